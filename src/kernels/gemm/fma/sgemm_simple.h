// Any GEMM, one element of D per thread: for what all other kernels reject, and for K == 0.
#pragma once
#include <inlay/kernels/gemm/fma/simple.h>

namespace inlay::kernels::sgemm_simple {

struct Step {};
using Kernel = SgemmSimple<Step>;
using Dispatch = Kernel;

inline constexpr Info<Gemm> info = {
    .name = "sgemm_simple",
    .idea = "One element of D to a thread: takes every problem, also K == 0.",
    .source = "inlay",
    .ladder = Ladder::sgemm,
    .origin = Origin::ours,
    .rejects = Kernel::rejects,
};

}  // namespace inlay::kernels::sgemm_simple
