// Tensor cores without shared memory: each warp loads its mma fragments from global memory.
#pragma once
#include <inlay/kernels/gemm/tensor/mma_from_global.h>

namespace inlay::kernels::hgemm_01_mma {

struct Step {};
template <class T>
struct Kernel : MmaFromGlobal<Step, T> {};
using Dispatch = ByHalfType<Kernel>;

inline constexpr Info<Gemm> info = {
    .name = "hgemm_01_mma",
    .idea =
        "Tensor cores multiply fragments that each lane loads from global memory, two bytes an access: the loads "
        "limit.",
    .source = "inlay",
    .ladder = Ladder::hgemm,
    .origin = Origin::ours,
    .rejects = Dispatch::rejects,
};

}  // namespace inlay::kernels::hgemm_01_mma
