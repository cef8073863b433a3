// Step 12 with 32 to 64 KB of loads in flight per SM (128 KB for 1-byte elements) and a larger L1.
#pragma once
#include <inlay/kernels/copy/register_tile.h>

namespace inlay::kernels::transpose_13_in_flight {

template <class T>
struct Step : RegisterStep<T> {
  static constexpr int blocks_per_sm = BlocksInFlight<T>;
};
template <class T>
using Kernel = RegisterTile<T, Step<T>>;
using Dispatch = ByElement<Kernel>;

inline constexpr Info<Copy> info = {
    .name = "transpose_13_in_flight",
    .idea =
        "A few blocks a multiprocessor and a small carve-out: more loads than the L1 can hold only get in each other's "
        "way.",
    .source = "inlay",
    .ladder = Ladder::transpose,
    .origin = Origin::ours,
    .rejects = rejects<Kernel>,
    .counts = counts<Kernel>,
};

}  // namespace inlay::kernels::transpose_13_in_flight
