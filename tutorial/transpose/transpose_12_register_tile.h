// Vectors both ways: a thread transposes a square of 16 x 16 bytes in its registers, so that nothing narrower than 16 bytes
// moves.
#pragma once
#include <inlay/kernels/copy/register_tile.h>

namespace inlay::kernels::transpose_12_register_tile {

template <class T>
struct Step : RegisterStep<T> {};
template <class T>
using Kernel = RegisterTile<T, Step<T>>;
using Dispatch = ByElement<Kernel>;

inline constexpr Info<Copy> info = {
    .name = "transpose_12_register_tile",
    .idea = "Squares transposed in registers: 16-byte accesses everywhere, swizzled shared memory without a conflict.",
    .source = "inlay",
    .ladder = Ladder::transpose,
    .origin = Origin::ours,
    .rejects = rejects<Kernel>,
    .counts = counts<Kernel>,
};

}  // namespace inlay::kernels::transpose_12_register_tile
