// TMA fills the stages: one producer thread issues the loads, and one warpgroup multiplies.
#pragma once
#include <inlay/kernels/gemm/tensor/wgmma_ring.h>

namespace inlay::kernels::hgemm_04_tma {

struct Step : WgmmaRingStep {};
template <class T>
struct Kernel : WgmmaRing<Step, T> {};
using Dispatch = ByHalfType<Kernel>;

inline constexpr Info<Gemm> info = {
    .name = "hgemm_04_tma",
    .idea =
        "A producer thread fills a ring of three stages by TMA, mbarriers hand them over, and one warpgroup multiplies "
        "128x128.",
    .source = "inlay",
    .ladder = Ladder::hgemm,
    .origin = Origin::ours,
    .rejects = Dispatch::rejects,
};

}  // namespace inlay::kernels::hgemm_04_tma
