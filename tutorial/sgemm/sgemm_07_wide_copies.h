// Step 06 with 16-byte copies of aligned operands at all transposes: cp.async if contiguous along
// m or n, through registers, which transpose, if contiguous along k. Unaligned: 4-byte cp.async.
#pragma once
#include <inlay/kernels/gemm/fma/tile.h>

namespace inlay::kernels::sgemm_07_wide_copies {

template <Vectors A, Vectors B>
struct Step : SgemmStep {
  using FetchA = FetchVectors<A, threads, BLK_M>;
  using FetchB = FetchVectors<B, threads, BLK_N>;
  using SmemA = Stages<BLK_M, BLK_K, 3, 4>;  // (BLK_M,BLK_K,PIPE)
  using SmemB = Stages<BLK_N, BLK_K, 3, 4>;  // (BLK_N,BLK_K,PIPE)
};
using Kernel = SgemmVectors<Step>;
using Dispatch = Kernel;

inline constexpr Info<Gemm> info = {
    .name = "sgemm_07_wide_copies",
    .idea =
        "Four times fewer copies: 16 bytes each on all four layouts, transposed in registers where k is contiguous; "
        "multiply-adds and shared reads limit alike.",
    .source = "inlay",
    .ladder = Ladder::sgemm,
    .origin = Origin::ours,
    .rejects = Kernel::rejects,
};

}  // namespace inlay::kernels::sgemm_07_wide_copies
