// Any layout and alignment, tiles of 128 x 256: 8 x 16 elements of D to a thread. The loop is rolled up to two slices,
// through which a swizzle would have to be computed: padded stages.
#pragma once
#include <inlay/kernels/gemm/fma/tile.h>

namespace inlay::kernels::sgemm_tile_128x256 {

template <Vectors A, Vectors B>
struct Step : WarpTiledStep {
  static constexpr int BLK_M = 128, BLK_N = 256, BLK_K = 16, min_blocks = 1, slices = 2;
  static constexpr bool ordered = true;
  using FetchA = FetchVectors<A, threads, BLK_M>;
  using FetchB = FetchVectors<B, threads, BLK_N>;
  using SmemA = Stages<BLK_M, BLK_K, 3, 4>;  // (BLK_M,BLK_K,PIPE)
  using SmemB = Stages<BLK_N, BLK_K, 3, 4>;  // (BLK_N,BLK_K,PIPE)
  using OnC = WarpTiles<2, 4, 8, 4, 8, 16>;  // 8 warps of 64x64, 32 lanes of 8x16
};
using Kernel = SgemmVectors<Step>;
using Dispatch = Kernel;

inline constexpr Info<Gemm> info = {
    .name = "sgemm_tile_128x256",
    .idea = "Tiles of 128x256, 8x16 to a thread: six shared reads for 128 multiply-adds, padded stages, no workspace.",
    .source = "inlay",
    .ladder = Ladder::sgemm,
    .origin = Origin::ours,
    .rejects = Kernel::rejects,
};

}  // namespace inlay::kernels::sgemm_tile_128x256
