// Step 01 with an accumulator that starts anew every 32 indices of K: its sums are added in fp32.
#pragma once
#include <inlay/tutorial/sgemm_tc/sgemm_tc_01_one_accumulator.h>

namespace inlay::kernels::sgemm_tc_02_emptied {

struct Step : sgemm_tc_01_one_accumulator::Step {
  static constexpr bool empties = true;
};
using Kernel = SplitTile<Step>;
using Dispatch = Kernel;

inline constexpr Info<Gemm> info = {
    .name = "sgemm_tc_02_emptied",
    .idea =
        "The accumulator is emptied into fp32 registers every 32 indices of K: FADD rounds to nearest, and what was "
        "truncated before stays a share of 32 indices.",
    .source = "inlay",
    .ladder = Ladder::sgemm_tc,
    .origin = Origin::ours,
    .rejects = Kernel::rejects,
    .accumulation_length = 32,
};

}  // namespace inlay::kernels::sgemm_tc_02_emptied
