// Predicted time of a copy, in closed form: the planner compares candidates within microseconds.
#pragma once
#include <inlay/model/device.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace inlay::model {

// Fitted on an H200, to the three instances of copy_tiled on the 300 cases of suites/wild.json. The standard deviation
// of the 874 measured times from the predicted ones is 12 % (docs/log.md). block_us: fitted to 296 drawn copies below
// 256 MB in successive programmatic launches, whose own time it has.
inline constexpr double kL2Share = .75;          // share of the L2 bandwidth that short runs reach
inline constexpr double kIssueRate = 2.85;       // warp instructions per clock and SM
inline constexpr double kWavefrontClocks = 1.3;  // SM clocks per wavefront
inline constexpr double kOverlap = 2.7;          // overlapping blocks per resident block

// The demand of a whole copy.
struct CopyWork {
  double bytes = 0;         // DRAM traffic: each source byte once, each destination byte once
  double sectors = 0;       // 32 bytes each, between SMs and L2
  double instructions = 0;  // warp instructions
  double wavefronts = 0;    // L1 wavefronts
  double blocks = 0;
  double resident_blocks = 4;  // per SM
  double block_us = 1.3;       // latency of a block that runs alone on the GPU
  double correction = 1;       // measured divided by predicted time of a kernel family, fitted on random cases

  CopyWork times(double n) const {
    CopyWork all = *this;
    all.bytes *= n, all.sectors *= n, all.instructions *= n, all.wavefronts *= n, all.blocks *= n;
    return all;
  }
};

// Seconds.
inline double seconds_of(CopyWork const& w, Device const& device) {
  double const sms = device.sm_count * device.clock_ghz * 1e9;
  double memory = std::max(w.bytes / device.copy_gbps, 32 * w.sectors / (kL2Share * device.l2_gbps)) * 1e-9;
  double inside = std::max(w.instructions / kIssueRate, w.wavefronts * kWavefrontClocks) / sms;
  // Tail: some SMs run one block more than others. In a single wave, the tail also extends the memory time.
  double const each = w.blocks / device.sm_count, waves = each / w.resident_blocks,
               tail = std::ceil(each) / std::max(each, 1e-9);
  inside *= tail;
  if (waves < 1) memory *= (1 + tail) / 2;
  // A block loads, computes and stores one after the other; other resident blocks overlap with it.
  double const busy = std::max(memory, inside) + std::min(memory, inside) / std::max(1., kOverlap * w.resident_blocks);
  // Nothing overlaps with the loads of the first blocks and the stores of the last ones.
  return w.correction * std::max(busy + w.block_us * 1e-6, std::ceil(waves) * w.block_us * 1e-6);
}

}  // namespace inlay::model
