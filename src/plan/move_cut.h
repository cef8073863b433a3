// Which cut of a move into tiles is the fastest, by the model.
#pragma once
#include <inlay/plan/move_tile.h>
#include <inlay/plan/move_time.h>

#include <span>

namespace inlay::planning {

// What a tile asks of the GPU, over all tiles: counts of an average tile times their number; tiles that are not whole count
// by what they move. `wavefronts`: of a warp that gathers a unit or a word for each of its lanes.
MoveWork work_of(Move const& widened, MoveTile const& tile, TileLimits const& limits, int wavefronts);
MoveWork work_of(Move const& widened, MoveTile const& tile, TileLimits const& limits);

struct TimedCut {
  Cut cut;  // no modes: there is none
  double seconds = 0;
};
TimedCut best_cut(Move const& widened, TileLimits const& limits, Device const& device);

// Those that are worth a look, as many as there is room for; how many that are.
int cuts_of(Move const& widened, TileLimits const& limits, std::span<Cut> cuts);

}  // namespace inlay::planning
