// Step 07 with 8x16 elements of D per thread and the outer product in a fixed order (OrderedFma).
// The loop body has two slices of k; a swizzle would need address computations there: so padding.
#pragma once
#include <inlay/kernels/gemm/fma/tile.h>

namespace inlay::kernels::sgemm_09_thread_tile {

template <Vectors A, Vectors B>
struct Step : WideThreadTile<A, B> {};
using Kernel = SgemmVectors<Step>;
using Dispatch = Kernel;

inline constexpr Info<Gemm> info = {
    .name = "sgemm_09_thread_tile",
    .idea =
        "8x16 to a thread: 6 shared reads for 128 multiplications instead of 4 for 64, in a loop of two slices; 8 "
        "warps have to hide all waits.",
    .source = "inlay",
    .ladder = Ladder::sgemm,
    .origin = Origin::ours,
    .rejects = Kernel::rejects,
};

}  // namespace inlay::kernels::sgemm_09_thread_tile
