// Step 06 in clusters of two blocks: each multicasts half of the tile of B to both blocks.
#pragma once
#include <inlay/tutorial/hgemm/hgemm_06_persistent.h>

namespace inlay::kernels::hgemm_07_multicast {

struct Step : hgemm_06_persistent::Step {
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
