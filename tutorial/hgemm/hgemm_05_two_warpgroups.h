// Two warpgroups multiply a tile of 128 x 256: both read the same tile of B in shared memory.
#pragma once
#include <inlay/kernels/gemm/tensor/wgmma_ring.h>

namespace inlay::kernels::hgemm_05_two_warpgroups {

struct Step : WgmmaRingStep {
  static constexpr int BLK_N = 256, PIPE = 4, consumers = 2, min_blocks = 1;
};
template <class T>
struct Kernel : WgmmaRing<Step, T> {};
using Dispatch = ByHalfType<Kernel>;

inline constexpr Info<Gemm> info = {
    .name = "hgemm_05_two_warpgroups",
    .idea =
        "Two consumer warpgroups multiply 128x256 from four stages: three quarters of the bytes for each "
        "multiplication.",
    .source = "inlay",
    .ladder = Ladder::hgemm,
    .origin = Origin::ours,
    .rejects = Dispatch::rejects,
};

}  // namespace inlay::kernels::hgemm_05_two_warpgroups
