// Which cut of a copy into tiles is the fastest, by the model.
#pragma once
#include <inlay/planner/copy_tile.h>
#include <inlay/planner/copy_time.h>

#include <span>

namespace inlay::planner {

// What a tile asks of the GPU, over all tiles: counts of an average tile times their number; tiles that are not whole count
// by what they copy. `wavefronts`: of a warp that gathers a unit or a word for each of its lanes.
CopyWork work_of(Copy const& widened, CopyTile const& tile, TileLimits const& limits, int wavefronts);
CopyWork work_of(Copy const& widened, CopyTile const& tile, TileLimits const& limits);

struct TimedTiling {
  Tiling tiling;  // no modes: there is none
  double seconds = 0;
};
TimedTiling best_tiling(Copy const& widened, TileLimits const& limits, Device const& device);

// Those that are worth a look, as many as there is module for; how many that are.
int tilings_of(Copy const& widened, TileLimits const& limits, std::span<Tiling> cuts);

}  // namespace inlay::planner
