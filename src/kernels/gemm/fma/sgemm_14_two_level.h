// Sums in two levels: chains of 256 products are added to a sum in shared memory, so that rounding errors grow more slowly.
#pragma once
#include <inlay/kernels/gemm/fma/ring.h>

namespace inlay::kernels::sgemm_14_two_level {

struct Step : RingStep {
  static constexpr int BLK_K = 16;  // the sums take 128 KB of what stages have had
  static constexpr bool two_level = true;
};
using Kernel = SgemmRing<Step>;

inline constexpr Info<Gemm> info = {
    .name = "sgemm_14_two_level",
    .idea =
        "Step 12 with chains of 256 products, each added once to a sum in shared memory: the error grows with the root "
        "of K / 256; stages of half the depth cost twice the barriers.",
    .source = "inlay",
    .ladder = Ladder::sgemm,
    .origin = Origin::ours,
    .family = "ring",
    .ptxas = "-O1",
    .rejects = Kernel::rejects,
    .workspace = Kernel::workspace,
    .chain = Step::CHAIN,
};

}  // namespace inlay::kernels::sgemm_14_two_level
