// Which tiling of a copy is predicted to be the fastest.
#pragma once
#include <inlay/planner/copy_tile.h>
#include <inlay/planner/copy_time.h>

#include <span>

namespace inlay::planner {

// The demand of a copy by tiles like `tile`: the counts of a whole tile times the number of tiles; partial tiles count by their
// share of elements. wavefronts: shared-memory wavefronts of a warp that loads one element or word per lane.
CopyWork work_of(Copy const& widened, CopyTile const& tile, TileLimits const& limits, int wavefronts);
CopyWork work_of(Copy const& widened, CopyTile const& tile, TileLimits const& limits);

struct TimedTiling {
  Tiling tiling;  // without modes: no tile fits
  double seconds = 0;
};
TimedTiling best_tiling(Copy const& widened, TileLimits const& limits, Device const& device);

// Writes the tilings to compare, as many as `tilings` holds, and returns their number.
int enumerate_tilings(Copy const& widened, TileLimits const& limits, std::span<Tiling> tilings);

}  // namespace inlay::planner
