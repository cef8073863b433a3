// Each thread computes one element of D: it reads a row of A and a column of B from global memory.
#pragma once
#include <inlay/kernels/gemm/fma/simple.h>

namespace inlay::kernels::sgemm_01_naive {

struct Step {};
using Kernel = SgemmSimple<Step>;
using Dispatch = Kernel;

inline constexpr Info<Gemm> info = {
    .name = "sgemm_01_naive",
    .idea = "One thread, one element of C: nothing is shared, and what the threads load from the caches limits.",
    .source = "worklog, kernel 1: naive",
    .ladder = Ladder::sgemm,
    .origin = Origin::tutorial,
    .rejects = Kernel::rejects,
};

}  // namespace inlay::kernels::sgemm_01_naive
