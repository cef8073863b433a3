// How long a copy takes that goes tile by tile: closed forms, for the planner, which compares them within microseconds.
#pragma once
#include <inlay/planner/device.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace inlay::planner {

// Fitted on an H200, on the three instances of copy_tiled for each of the 300 cases of suites/wild.json: 874 times,
// 12 % apart from what is predicted, in standard deviation (docs/log.md).
inline constexpr double kSectors = .75;    // of the L2's rate, where rows and lines are short
inline constexpr double kIssued = 2.85;    // instructions of warps in a clock of a multiprocessor
inline constexpr double kWavefront = 1.3;  // clocks
inline constexpr double kHidden = 2.7;     // blocks that hide each other, of one that is held

// What a kernel asks for in all.
struct CopyWork {
  double bytes = 0;       // that have to move: the source's once, and the destination's
  double sectors = 0;     // of 32 bytes, between the multiprocessors and the L2
  double issued = 0;      // instructions of warps
  double wavefronts = 0;  // of the L1
  double blocks = 0;
  double held = 4;    // blocks of a multiprocessor at once
  double turn = 1.2;  // microseconds that a block takes which has the GPU for itself
  // Of what is computed from all this: what a family of kernels was measured to take on the drawn cases.
  double measured = 1;
};

// Seconds. On a GPU that the table does not know, those of an H200: what is compared is alike there.
inline double seconds_of(CopyWork const& w, Device const& device) {
  bool const known = device.copy_gbps > 0 && device.clock_ghz > 0;
  double const copy = known ? device.copy_gbps : 4286, l2 = known ? device.l2_gbps : 5600;
  double const sms = device.sm_count * (known ? device.clock_ghz : 1.98) * 1e9, launch = known ? device.launch_us : 1;
  double memory = std::max(w.bytes / copy, 32 * w.sectors / (kSectors * l2)) * 1e-9;
  double inside = std::max(w.issued / kIssued, w.wavefronts * kWavefront) / sms;
  // Some multiprocessors have a block more than others. While all blocks are there at once, the memory waits for them too.
  double const each = w.blocks / device.sm_count, waves = each / w.held, more = std::ceil(each) / std::max(each, 1e-9);
  inside *= more;
  if (waves < 1) memory *= (1 + more) / 2;
  // What loads, computes and stores in turn hides one behind another block's other: the better, the more there are.
  double const busy = std::max(memory, inside) + std::min(memory, inside) / std::max(1., kHidden * w.held);
  // The first blocks' loads and the last ones' stores have no company.
  return w.measured * (launch * 1e-6 + std::max(busy + w.turn * 1e-6, std::ceil(waves) * w.turn * 1e-6));
}

}  // namespace inlay::planner
