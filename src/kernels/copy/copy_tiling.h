// Searches the tiling of a copy with the shortest predicted time.
#pragma once
#include <inlay/kernels/copy/copy_tile.h>
#include <inlay/model/copy_time.h>

#include <span>

namespace inlay::kernels {

// The demand of a copy with this tile: the counts of a whole tile times the number of tiles, where a partial tile
// counts by its share of elements. wavefronts: of a warp that loads one element or word per lane.
CopyWork work_of(Copy const& widened, CopyTile const& tile, TileLimits const& limits, int wavefronts);
CopyWork work_of(Copy const& widened, CopyTile const& tile, TileLimits const& limits);

struct TimedTiling {
  Tiling tiling;  // has no modes if no tile fits
  double seconds = 0;
};
TimedTiling best_tiling(Copy const& widened, TileLimits const& limits, Device const& device);

// Writes the tilings to compare into `tilings`, at most tilings.size(), and returns their number.
int enumerate_tilings(Copy const& widened, TileLimits const& limits, std::span<Tiling> tilings);

}  // namespace inlay::kernels
