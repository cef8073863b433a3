// Lanes run along rows of the output. Caches make strided reads cheaper than strided writes.
#pragma once
#include <inlay/kernels/copy/direct_tile.h>

namespace inlay::kernels::transpose_02_naive_write {

template <class T>
struct Step : CoalescedWrites {};
template <class T>
using Kernel = DirectTile<T, Step<T>>;
using Dispatch = ByElement<Kernel>;

inline constexpr Info<Copy> info = {
    .name = "transpose_02_naive_write",
    .idea = "Coalesced writes, strided reads: the L1 keeps the sectors until their neighbours are asked for.",
    .source = "Lei Mao: naive, coalesced write",
    .ladder = Ladder::transpose,
    .origin = Origin::tutorial,
    .rejects = rejects<Kernel>,
    .counts = counts<Kernel>,
};

}  // namespace inlay::kernels::transpose_02_naive_write
