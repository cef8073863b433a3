// Step 07 without padding: where the second four of k lie, halves of 32 floats change places.
#pragma once
#include <inlay/kernels/gemm/fma/tile.h>

namespace inlay::kernels::sgemm_08_swizzled {

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
    .name = "sgemm_08_swizzled",
    .idea =
        "A swizzle instead of padding: as free of conflicts for 16-byte copies, and not a float wasted; shared reads "
        "limit.",
    .source = "inlay",
    .ladder = Ladder::sgemm,
    .origin = Origin::ours,
    .rejects = Kernel::rejects,
};

}  // namespace inlay::kernels::sgemm_08_swizzled
