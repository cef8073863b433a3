// Step 12 with 32 to 64 KB of loads in flight per SM (128 KB for 1-byte elements) and a larger L1.
#pragma once
#include <inlay/kernels/copy/register_tile.h>
#include <inlay/tutorial/copy/step.h>

namespace inlay::kernels::transpose_13_in_flight {

struct Step : RegisterStep<float> {
  static constexpr int blocks_per_sm = BlocksInFlight<float>;
};
using Kernel = RegisterTile<float, Step>;
using Dispatch = Kernel;

inline constexpr Info<Copy> info = {
    .name = "transpose_13_in_flight",
    .idea =
        "A few blocks a multiprocessor and a small carve-out: more loads than the L1 can hold only get in each other's "
        "way.",
    .source = "inlay",
    .ladder = Ladder::transpose,
    .origin = Origin::ours,
    .rejects = rejects_step<Kernel>,
};

}  // namespace inlay::kernels::transpose_13_in_flight
