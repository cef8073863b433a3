// Step 07 with a swizzle instead of padding: for k = 4 to 7, halves of each 32 floats are swapped.
#pragma once
#include <inlay/kernels/gemm/fma/tile.h>

namespace inlay::kernels::sgemm_08_swizzled {

template <Vectors A, Vectors B>
struct Step : SwizzledTile<A, B> {};
using Kernel = SgemmVectors<Step>;
using Dispatch = Kernel;

inline constexpr Info<Gemm> info = {
    .name = "sgemm_08_swizzled",
    .idea =
        "A swizzle instead of padding: as free of conflicts for 16-byte copies, and not a float wasted; shared reads "
        "limit.",
    .source = "inlay",
    .ladder = Ladder::sgemm,
    .origin = Origin::ours,
    .rejects = Kernel::rejects,
};

}  // namespace inlay::kernels::sgemm_08_swizzled
