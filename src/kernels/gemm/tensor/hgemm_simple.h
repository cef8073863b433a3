// Any strides and alignment, without a workspace: what no other kernel takes, and GEMMs too small to pack operands for.
#pragma once
#include <inlay/kernels/gemm/tensor/mma_from_global.h>

namespace inlay::kernels::hgemm_simple {

struct Step {};
template <class T>
struct Kernel : MmaFromGlobal<Step, T> {};
using Dispatch = ByHalfType<Kernel>;

inline constexpr Info<Gemm> info = {
    .name = "hgemm_simple",
    .idea =
        "Tensor cores for bf16 and f16 of any strides: fragments from global memory, two bytes an access, which "
        "limits.",
    .source = "inlay",
    .ladder = Ladder::hgemm,
    .origin = Origin::ours,
    .rejects = Dispatch::rejects,
};

}  // namespace inlay::kernels::hgemm_simple
