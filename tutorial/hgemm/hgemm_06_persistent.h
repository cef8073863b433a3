// A grid that stays on the GPU: the stages of the next tile are loaded while the last one is stored.
#pragma once
#include <inlay/kernels/gemm/tensor/wgmma_ring.h>

namespace inlay::kernels::hgemm_06_persistent {

struct Step : WgmmaRingStep {
  static constexpr int BLK_N = 256, PIPE = 4, consumers = 2, min_blocks = 1;
  static constexpr bool persistent = true;
  static constexpr int band = 8;
};
template <class T>
struct Kernel : WgmmaRing<Step, T> {};
using Dispatch = ByHalfType<Kernel>;

inline constexpr Info<Gemm> info = {
    .name = "hgemm_06_persistent",
    .idea =
        "As many blocks as multiprocessors, each computes tile after tile, in bands of eight tiles along n, which "
        "share their rows of A in the L2.",
    .source = "inlay",
    .ladder = Ladder::hgemm,
    .origin = Origin::ours,
    .rejects = Dispatch::rejects,
};

}  // namespace inlay::kernels::hgemm_06_persistent
