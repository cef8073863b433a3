// Tiles of 32x32: GEMMs so small that larger tiles would leave multiprocessors idle.
#pragma once
#include <inlay/kernels/gemm/fma/split.h>

namespace inlay::kernels::sgemm_split_32x32 {

template <Vectors A, Vectors B>
struct Step : SgemmStep {
  static constexpr FmaTimes times{
      .block = 1.75, .alone = 0.245, .busy = 0.121, .along_k = 0.29, .elements = 0.37, .end = {0.45, 0.82}};
  // Loads through registers end in the iteration that issues them; longer stages hide them.
  static constexpr bool transposes = A == Vectors::k || B == Vectors::k;
  static constexpr int BLK_M = 32, BLK_N = 32, BLK_K = transposes ? 32 : 16, PIPE = transposes ? 3 : 4;
  static constexpr int threads = 64, min_blocks = 8;
  using FetchA = FetchVectors<A, threads, BLK_M>;
  using FetchB = FetchVectors<B, threads, BLK_N>;
  using SmemA = Stages<BLK_M, BLK_K, PIPE, 4>;  // (BLK_M,BLK_K,PIPE)
  using SmemB = Stages<BLK_N, BLK_K, PIPE, 4>;  // (BLK_N,BLK_K,PIPE)
  using OnC = WarpTiles<2, 1, 4, 8, 4, 4>;      // 2 warps of 16x32, 32 lanes of 4x4
};
using Kernel = SgemmSplit<Step>;
using Dispatch = Kernel;

inline constexpr Info<Gemm> info = {
    .name = "sgemm_split_32x32",
    .idea =
        "Tiles of 32x32 for a block of two warps, and split-K: for GEMMs of a few microseconds, where the work "
        "of a thread and the loads it waits for limit.",
    .source = "inlay",
    .ladder = Ladder::sgemm,
    .origin = Origin::ours,
    .rejects = Kernel::rejects,
    .seconds = Kernel::seconds,
    .workspace = Kernel::workspace,
    .split = Kernel::split,
};

}  // namespace inlay::kernels::sgemm_split_32x32
