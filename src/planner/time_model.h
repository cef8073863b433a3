// How long a kernel takes: what it asks for, priced by a small model of a GPU.
//
// The model: a kernel takes as long as the memory or the L1 that it keeps busy longer, and a part of the other's time,
// which is not hidden. Multiply-adds and what stands beside them in an SM exclude each other. All of it begins when
// the first loads have come back, and few blocks wait longer than they work. docs/04_measuring.md says how the
// constants were found and how far off the times are.
#pragma once
#include <inlay/planner/device.h>

#include <cstdint>
#include <string>
#include <vector>

namespace inlay::planner {

// How a kernel is launched.
struct LaunchDemand {
  std::int64_t blocks;
  unsigned threads, cluster;
  std::size_t shared_bytes;  // of a block
  int min_blocks;            // of a multiprocessor, for which the compiler bounds the registers; 0: it is free
  int blocks_per_sm;         // as many as the launch lets a multiprocessor hold; 0: as many as fit
};

// What its launches ask for, over all multiprocessors.
struct Demand {
  std::vector<LaunchDemand> launches;
  double dram_bytes = 0;                                                       // that have to move at least
  double l2_bytes = 0;                                                         // between the SMs and the L2
  double lines = 0;                                                            // of 128 bytes, through the L1
  double wavefronts = 0, excess = 0, load_excess = 0;                          // of shared memory; beyond the ideal
  double requests = 0, shared_loads = 0, shared_stores = 0, async_copies = 0;  // of warps
  double fma = 0;                                                              // multiply-adds of threads
  double exposed_loads = 0;  // of blocks: from global memory, that nothing hides
};

struct Resource {
  std::string name;
  double seconds;  // that it is busy for, if nothing else holds it up
  std::string why;
};
// The busiest first.
std::vector<Resource> resources_of(Demand const& demand, Device const& device);

struct Prediction {
  double seconds = 0;
  std::string limit;  // a resource's name
};
Prediction prediction_of(Demand const& demand, Device const& device, std::vector<Resource> const& resources);

// How many blocks of a launch a multiprocessor has space for.
int resident_blocks(LaunchDemand const& launch, Device const& device);

// How a launch's blocks are spread over the multiprocessors.
struct Occupancy {
  double blocks_each;   // of a multiprocessor, on average
  double most_blocks;   // of the busiest one
  int resident_blocks;  // at once, of the busiest one: fewer than it has space for if the launch has few
  double waves;         // how often the whole GPU would be filled; a part of one at the end

  // What the busiest one does, by the average.
  double uneven() const { return blocks_each > 0 ? most_blocks / blocks_each : 1; }
};
Occupancy occupancy_of(LaunchDemand const& launch, Device const& device);

}  // namespace inlay::planner
