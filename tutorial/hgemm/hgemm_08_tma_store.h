// Step 07 with D through shared memory: stmatrix writes a tile of 64 x 64 while TMA stores another.
#pragma once
#include <inlay/tutorial/hgemm/hgemm_07_multicast.h>

namespace inlay::kernels::hgemm_08_tma_store {

struct Step : hgemm_07_multicast::Step {
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
