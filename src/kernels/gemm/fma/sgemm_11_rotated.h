// A main loop of two slices, rotated: the slice that is loaded is multiplied in the next turn, also across stages.
#pragma once
#include <inlay/kernels/gemm/fma/ring.h>

namespace inlay::kernels::sgemm_11_rotated {

struct Step : RingStep {
  static constexpr bool stream_k = false;
};
using Kernel = SgemmRing<Step>;

inline constexpr Info<Gemm> info = {
    .name = "sgemm_11_rotated",
    .idea =
        "The main loop is two slices, 272 instructions: accumulators stay in their registers, and FFMAs find two of "
        "three operands reused or in different banks; the last wave of tiles leaves multiprocessors idle.",
    .source = "inlay",
    .ladder = Ladder::sgemm,
    .origin = Origin::ours,
    .family = "ring",
    .ptxas = "-O1",
    .rejects = Kernel::rejects,
    .workspace = Kernel::workspace,
};

}  // namespace inlay::kernels::sgemm_11_rotated
