// How a launch's blocks are spread over the multiprocessors.
#pragma once
#include "explain/gpu.h"
#include "replay/recorder.h"

namespace inlay {

// How many blocks of a launch a multiprocessor has room for.
int resident_blocks(Launch const& launch, Gpu const& gpu);

struct Occupancy {
  double blocks_each;  // of a multiprocessor, on average
  double most_blocks;  // of the busiest one
  int held;            // at once, of the busiest one: fewer than it has room for if the launch has few
  double waves;        // how often the whole GPU would be filled; a part of one at the end

  // What the busiest one does, by the average.
  double uneven() const { return blocks_each > 0 ? most_blocks / blocks_each : 1; }
};
Occupancy occupancy_of(Launch const& launch, Gpu const& gpu);

}  // namespace inlay
