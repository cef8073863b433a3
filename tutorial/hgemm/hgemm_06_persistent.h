// Step 05 with a persistent grid: stages of the next tile are loaded while the last tile is stored.
#pragma once
#include <inlay/tutorial/hgemm/hgemm_05_two_warpgroups.h>

namespace inlay::kernels::hgemm_06_persistent {

struct Step : hgemm_05_two_warpgroups::Step {
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
