// The second step of a product whose K was cut into parts.
#pragma once
#include <inlay/kernels/gemm/fma/sum_parts.h>

namespace inlay::kernels::sum_01_parts {

using Kernel = SumParts;

inline Reason rejects(Reduction const&, Device const&) { return {}; }

inline constexpr Info<Reduction> info = {
    .name = "sum_01_parts",
    .idea = "Threads share an element where its parts are many; their sums are added in a fixed order.",
    .source = "inlay",
    .ladder = Ladder::none,
    .origin = Origin::ours,
    .family = "sum_parts",
    .rejects = rejects,
};

}  // namespace inlay::kernels::sum_01_parts
