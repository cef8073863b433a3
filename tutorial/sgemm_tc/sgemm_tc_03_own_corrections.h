// Step 02 with lo scaled by 2^11, which keeps its bits above f16's smallest numbers; lo.hi and hi.lo are summed apart.
#pragma once
#include <inlay/tutorial/sgemm_tc/sgemm_tc_02_emptied.h>

namespace inlay::kernels::sgemm_tc_03_own_corrections {

struct Step : sgemm_tc_02_emptied::Step {
  static constexpr bool separates = true;
};
using Kernel = SplitTile<Step>;
using Dispatch = Kernel;

inline constexpr Info<Gemm> info = {
    .name = "sgemm_tc_03_own_corrections",
    .idea =
        "lo is scaled by 2^11, so that it underflows no sooner than hi; lo.hi and hi.lo have an accumulator of their "
        "own, whose drift is 2^-11 of the sum's: it is emptied once, at the end.",
    .source = "inlay",
    .ladder = Ladder::sgemm_tc,
    .origin = Origin::ours,
    .rejects = Kernel::rejects,
    .accumulation_length = 32,
};

}  // namespace inlay::kernels::sgemm_tc_03_own_corrections
