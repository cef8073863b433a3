// Clusters of two blocks: each loads half of B's tile into the shared memory of both.
#pragma once
#include <inlay/kernels/gemm/tensor/wgmma_ring.h>

namespace inlay::kernels::hgemm_07_multicast {

struct Step : WgmmaRingStep {
  static constexpr int BLK_N = 256, PIPE = 4, consumers = 2, min_blocks = 1;
  static constexpr bool persistent = true;
  static constexpr int band = 8;
  static constexpr int cluster = 2;
};
template <class T>
struct Kernel : WgmmaRing<Step, T> {};
using Dispatch = ByHalfType<Kernel>;

inline constexpr Info<Gemm> info = {
    .name = "hgemm_07_multicast",
    .idea =
        "Two blocks of a cluster compute tiles above each other and multicast half of B to each other: a third fewer "
        "bytes from the L2.",
    .source = "inlay",
    .ladder = Ladder::hgemm,
    .origin = Origin::ours,
    .rejects = Dispatch::rejects,
};

}  // namespace inlay::kernels::hgemm_07_multicast
