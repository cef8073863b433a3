// Two f16 slices of each fp32 element, three pairs of slices, one accumulator: right for a short K and numbers of
// ordinary size.
#pragma once
#include <inlay/tutorial/sgemm_tc/split_tile.h>

namespace inlay::kernels::sgemm_tc_01_one_accumulator {

struct Step : SplitTileStep {};
using Kernel = SplitTile<Step>;
using Dispatch = Kernel;

inline constexpr Info<Gemm> info = {
    .name = "sgemm_tc_01_one_accumulator",
    .idea =
        "f32 as two f16 slices, hi.hi, lo.hi and hi.lo into one accumulator: tensor cores truncate when they add, so "
        "the sum drifts as K grows; lo underflows where elements are small, and above 65504 hi is infinite.",
    .source = "inlay",
    .ladder = Ladder::sgemm_tc,
    .origin = Origin::ours,
    .rejects = Kernel::rejects,
    .truncates = true,
};

}  // namespace inlay::kernels::sgemm_tc_01_one_accumulator
