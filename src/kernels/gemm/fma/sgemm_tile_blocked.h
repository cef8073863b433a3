// Blocked summation for operands that sgemm_tma_blocked rejects: any alignment and layout, without a workspace.
#pragma once
#include <inlay/kernels/gemm/fma/tile.h>

namespace inlay::kernels::sgemm_tile_blocked {

template <Vectors A, Vectors B>
struct Step : SgemmStep {
  // Not fitted: those of sgemm_tile_128x128.
  static constexpr FmaTimes times{
      .block = 2.76, .alone = 0.62, .busy = 1.28, .along_k = 0.08, .elements = 0.3, .end = {1.8, 3.5}};
  static constexpr int accumulation_length = 256, min_blocks = 1;
  using FetchA = FetchVectors<A, threads, BLK_M>;
  using FetchB = FetchVectors<B, threads, BLK_N>;
  using SmemA = SwizzledStages<BLK_M, BLK_K, 3>;  // (BLK_M,BLK_K,PIPE)
  using SmemB = SwizzledStages<BLK_N, BLK_K, 3>;  // (BLK_N,BLK_K,PIPE)
};
using Kernel = SgemmVectors<Step>;
using Dispatch = Kernel;

inline constexpr Info<Gemm> info = {
    .name = "sgemm_tile_blocked",
    .idea =
        "As sgemm_tile_128x128 with two sums for each element in registers, 256 FMAs in the first, then added to the "
        "second; one "
        "block "
        "fits a multiprocessor, and its waits limit.",
    .source = "inlay",
    .ladder = Ladder::sgemm,
    .origin = Origin::ours,
    .rejects = Kernel::rejects,
    .seconds = Kernel::seconds,
    .accumulation_length = 256,
};

}  // namespace inlay::kernels::sgemm_tile_blocked
