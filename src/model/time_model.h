// Predicts the time of a kernel from its demand and a small model of a GPU.
//
// The time is the longer of the memory time and the L1 time, plus a part of the shorter one that does not overlap. FMAs
// and the other instructions of an SM do not overlap with each other. All of this begins after the first loads have
// returned; with few blocks, latency dominates. docs/04_measuring.md documents how the constants were fitted and the
// errors of the predictions.
#pragma once
#include <inlay/model/device.h>

#include <cstdint>
#include <string>
#include <vector>

namespace inlay::model {

// How a kernel is launched.
struct LaunchDemand {
  std::int64_t blocks;
  unsigned threads, cluster;
  std::size_t shared_bytes;  // of a block
  int min_blocks;            // __launch_bounds__: minimum blocks per SM; 0: not given
  int blocks_per_sm;         // limit that the launch sets; 0: as many as fit
};

// The demand of all launches of a kernel, summed over all SMs.
struct Demand {
  std::vector<LaunchDemand> launches;
  double dram_bytes = 0;               // least traffic: each byte of the operands once
  double l2_bytes = 0;                 // between the SMs and the L2
  double lines = 0;                    // cache lines of 128 bytes that pass through the L1
  double wavefronts = 0;               // of shared memory
  double excess = 0, load_excess = 0;  // wavefronts beyond the ideal: of all requests; of loads
  double requests = 0;                 // of warps, to global and shared memory
  double shared_loads = 0, shared_stores = 0, async_copies = 0;  // requests of warps
  double fma = 0;                                                // fused multiply-adds of threads
  double mma_fma = 0, wgmma_fma = 0;                             // multiply-adds of mma.sync and of wgmma instructions
  double exposed_loads = 0;  // loads of blocks from global memory that nothing overlaps
};

struct Resource {
  std::string name;
  double seconds;   // busy time
  std::string why;  // the counts and rates behind `seconds`
};
// The resources of the model, the busiest first.
std::vector<Resource> resources_of(Demand const& demand, Device const& device);

struct Prediction {
  double seconds = 0;
  std::string limit;  // a resource's name
};
Prediction prediction_of(Demand const& demand, Device const& device, std::vector<Resource> const& resources);

// The number of blocks of a launch that fit on an SM.
int resident_blocks(LaunchDemand const& launch, Device const& device);

// How the blocks of a launch are distributed over the SMs.
struct Occupancy {
  double blocks_each;   // per SM, on average
  double most_blocks;   // of the busiest SM
  int resident_blocks;  // of the busiest SM; fewer than fit if the launch has few blocks
  double waves;         // number of waves, with a fraction for the last one

  // Tail: blocks of the busiest SM divided by the average.
  double uneven() const { return blocks_each > 0 ? most_blocks / blocks_each : 1; }
};
Occupancy occupancy_of(LaunchDemand const& launch, Device const& device);

}  // namespace inlay::model
