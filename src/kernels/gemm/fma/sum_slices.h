// The second launch of a split-K GEMM: adds the partial sums of the slices.
#pragma once
#include <inlay/kernels/gemm/fma/slice_sums.h>

namespace inlay::kernels::sum_slices {

using Kernel = SumSlices;

inline Reason rejects(Reduction const&, Device const&) { return {}; }
using Dispatch = Kernel;

inline constexpr Info<Reduction> info = {
    .name = "sum_slices",
    .idea = "Threads share an element where its parts are many; their sums are added in a fixed order.",
    .source = "inlay",
    .ladder = Ladder::none,
    .origin = Origin::ours,
    .rejects = rejects,
};

}  // namespace inlay::kernels::sum_slices
