// D leaves through shared memory: stmatrix writes tiles of 64 x 64, TMA stores them while the next is written.
#pragma once
#include <inlay/kernels/gemm/tensor/wgmma_ring.h>

namespace inlay::kernels::hgemm_08_tma_store {

struct Step : WgmmaRingStep {
  static constexpr int BLK_N = 256, PIPE = 4, consumers = 2, min_blocks = 1;
  static constexpr bool persistent = true;
  static constexpr int band = 8;
  static constexpr int cluster = 2;
  static constexpr bool stores_by_tma = true;
};
template <class T>
struct Kernel : WgmmaRing<Step, T> {};
using Dispatch = ByHalfType<Kernel>;

inline constexpr Info<Gemm> info = {
    .name = "hgemm_08_tma_store",
    .idea = "stmatrix and TMA store D in whole lines, beside the next tile's loads.",
    .source = "inlay",
    .ladder = Ladder::hgemm,
    .origin = Origin::ours,
    .rejects = Dispatch::rejects,
};

}  // namespace inlay::kernels::hgemm_08_tma_store
