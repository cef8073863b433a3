// Step 03 for the range of fp32: a first pass over the operands finds the power of two that brings each row into the
// range of f16.
#pragma once
#include <inlay/tutorial/sgemm_tc/sgemm_tc_03_own_corrections.h>

namespace inlay::kernels::sgemm_tc_04_scaled_rows {

struct Step : sgemm_tc_03_own_corrections::Step {
  static constexpr bool scales_rows = true;
};
using Kernel = SplitTile<Step>;
using Dispatch = Kernel;

inline constexpr Info<Gemm> info = {
    .name = "sgemm_tc_04_scaled_rows",
    .idea =
        "A power of two for each row of A and each column of B brings its largest element to 2^14 or more, below "
        "2^15: f16 has the range for every row, and the scales are undone at the end.",
    .source = "inlay",
    .ladder = Ladder::sgemm_tc,
    .origin = Origin::ours,
    .rejects = Kernel::rejects,
    .accumulation_length = 32,
};

}  // namespace inlay::kernels::sgemm_tc_04_scaled_rows
