// Any layout and alignment, tiles of 128 x 128, stages filled by cp.async or through registers.
#pragma once
#include <inlay/kernels/gemm/fma/tile.h>

namespace inlay::kernels::sgemm_tile_128x128 {

template <Vectors A, Vectors B>
struct Step : SwizzledTile<A, B> {};
using Kernel = SgemmVectors<Step>;
using Dispatch = Kernel;

inline constexpr Info<Gemm> info = {
    .name = "sgemm_tile_128x128",
    .idea =
        "Tiles of 128x128 for any layout and alignment: 16-byte copies where rows allow them, swizzled stages, no "
        "workspace.",
    .source = "inlay",
    .ladder = Ladder::sgemm,
    .origin = Origin::ours,
    .rejects = Kernel::rejects,
};

}  // namespace inlay::kernels::sgemm_tile_128x128
