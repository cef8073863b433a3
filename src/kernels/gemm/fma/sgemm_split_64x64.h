// Small tiles and split-K: GEMMs with few elements of D and a deep K.
#pragma once
#include <inlay/kernels/gemm/fma/split.h>

namespace inlay::kernels::sgemm_split_64x64 {

template <Vectors A, Vectors B>
struct Step : SgemmStep {
  static constexpr FmaTimes times{
      .block = 2.06, .alone = 0.84, .busy = 0.325, .along_k = 0.095, .elements = 0.23, .end = {1.26, 4.1}};
  static constexpr int BLK_M = 64, BLK_N = 64, threads = 64, min_blocks = A == Vectors::none ? 6 : 8;  // else spills
  using FetchA = FetchVectors<A, threads, BLK_M>;
  using FetchB = FetchVectors<B, threads, BLK_N>;
  using SmemA = Stages<BLK_M, BLK_K, 3, 4>;  // (BLK_M,BLK_K,PIPE)
  using SmemB = Stages<BLK_N, BLK_K, 3, 4>;  // (BLK_N,BLK_K,PIPE)
  using OnC = WarpTiles<2, 1, 4, 8, 8, 8>;   // 2 warps of 32x64, 32 lanes of 8x8
};
using Kernel = SgemmSplit<Step>;
using Dispatch = Kernel;

inline constexpr Info<Gemm> info = {
    .name = "sgemm_split_64x64",
    .idea =
        "Tiles of 64x64, and K split into slices that fill the multiprocessors: partial sums in a workspace are added "
        "in order by a second kernel; their traffic limits.",
    .source = "inlay",
    .ladder = Ladder::sgemm,
    .origin = Origin::ours,
    .rejects = Kernel::rejects,
    .seconds = Kernel::seconds,
    .workspace = Kernel::workspace,
    .split = Kernel::split,
};

}  // namespace inlay::kernels::sgemm_split_64x64
