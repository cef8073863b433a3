// A thread transposes squares in registers. Rows and columns of a square have 16 bytes, so that
// every access has 16 bytes.
#pragma once
#include <inlay/kernels/copy/register_tile.h>
#include <inlay/tutorial/copy/step.h>

namespace inlay::kernels::transpose_12_register_tile {

struct Step : RegisterStep<float> {};
using Kernel = RegisterTile<float, Step>;
using Dispatch = Kernel;

inline constexpr Info<Copy> info = {
    .name = "transpose_12_register_tile",
    .idea = "Squares transposed in registers: 16-byte accesses everywhere, swizzled shared memory without a conflict.",
    .source = "inlay",
    .ladder = Ladder::transpose,
    .origin = Origin::ours,
    .rejects = rejects_step<Kernel>,
};

}  // namespace inlay::kernels::transpose_12_register_tile
