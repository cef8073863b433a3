// Any layout and alignment, tiles of 128 x 128, stages filled by cp.async or through registers.
#pragma once
#include <inlay/kernels/gemm/fma/tile.h>

namespace inlay::kernels::sgemm_tile_128x128 {

template <Vectors A, Vectors B>
struct Step : WarpTiledStep {
  using FetchA = FetchVectors<A, threads, BLK_M>;
  using FetchB = FetchVectors<B, threads, BLK_N>;
  using SmemA = SwizzledStages<BLK_M, BLK_K, 3>;  // (BLK_M,BLK_K,PIPE)
  using SmemB = SwizzledStages<BLK_N, BLK_K, 3>;  // (BLK_N,BLK_K,PIPE)
};
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
