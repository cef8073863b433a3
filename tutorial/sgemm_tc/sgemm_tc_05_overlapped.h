// Step 04 with tensor cores that multiply corrections while the other accumulator is emptied.
#pragma once
#include <inlay/tutorial/sgemm_tc/sgemm_tc_04_scaled_rows.h>

namespace inlay::kernels::sgemm_tc_05_overlapped {

struct Step : sgemm_tc_04_scaled_rows::Step {
  static constexpr bool overlaps = true;
};
using Kernel = SplitTile<Step>;
using Dispatch = Kernel;

inline constexpr Info<Gemm> info = {
    .name = "sgemm_tc_05_overlapped",
    .idea =
        "lo.hi and hi.lo are in flight while the sum of hi.hi is emptied: between a load of the tiles and the next, "
        "tensor cores do not idle.",
    .source = "inlay",
    .ladder = Ladder::sgemm_tc,
    .origin = Origin::ours,
    .rejects = Kernel::rejects,
    .accumulation_length = 32,
};

}  // namespace inlay::kernels::sgemm_tc_05_overlapped
