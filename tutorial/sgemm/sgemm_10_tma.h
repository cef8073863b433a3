// TMA instead of cp.async: one thread loads whole stages, eight warps multiply; a persistent grid.
#pragma once
#include <inlay/kernels/gemm/fma/ring.h>

namespace inlay::kernels::sgemm_10_tma {

struct Step : RingStep {
  static constexpr int LOOP_SLICES = 8;
  static constexpr bool stream_k = false;
};
using Kernel = SgemmRing<Step>;
using Dispatch = Kernel;

inline constexpr Info<Gemm> info = {
    .name = "sgemm_10_tma",
    .idea =
        "A helper warpgroup fills a ring of four stages by TMA, mbarriers hand them over, registers copy to the "
        "multiplying warps; the loop of 8 slices renames its accumulators, and FFMAs wait for their registers.",
    .source = "inlay",
    .ladder = Ladder::sgemm,
    .origin = Origin::ours,
    .rejects = Kernel::rejects,
    .workspace = Kernel::workspace,
};

}  // namespace inlay::kernels::sgemm_10_tma
