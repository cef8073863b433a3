// Transposes without shared memory, for matrices so small that block latency decides: small blocks without a barrier.
#pragma once
#include <inlay/kernels/copy/direct_tile.h>

namespace inlay::kernels::transpose_direct {

template <class T>
struct Step : CoalescedWrites {
  static constexpr bool follows = true;
};
template <class T>
using Kernel = DirectTile<T, Step<T>>;
using Dispatch = ByElement<Kernel>;

inline constexpr Info<Copy> info = {
    .name = "transpose_direct",
    .idea = "Coalesced writes, strided reads, no barrier: the fastest where latency is most of the time.",
    .source = "inlay",
    .ladder = Ladder::transpose,
    .origin = Origin::ours,
    .rejects = rejects<Kernel>,
    .seconds = seconds<Kernel>,
};

}  // namespace inlay::kernels::transpose_direct
