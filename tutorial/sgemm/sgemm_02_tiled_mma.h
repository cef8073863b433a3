// Tiles of A and B in shared memory; a TiledMMA of 1x1x1 atoms on 16x16 threads multiplies them.
#pragma once
#include <inlay/tutorial/sgemm/flat_tile.h>

namespace inlay::kernels::sgemm_02_tiled_mma {

struct Step : FlatStep {
  using FetchA = FetchAlongK<UniversalCopy<float>, threads, BLK_K>;
  using FetchB = FetchAlongK<UniversalCopy<float>, threads, BLK_K>;
  using SmemA = Stages<BLK_M, BLK_K, 1>;  // (BLK_M,BLK_K,1):(1,BLK_M,)
  using SmemB = Stages<BLK_N, BLK_K, 1>;  // (BLK_N,BLK_K,1):(1,BLK_N,)
};
using Kernel = FlatTile<Step>;
using Dispatch = Kernel;

inline constexpr Info<Gemm> info = {
    .name = "sgemm_02_tiled_mma",
    .idea =
        "Tiles of 128x8 in shared memory, 8x8 elements of C to a thread: bank conflicts of the stores and the wait for "
        "every tile limit.",
    .source = "worklog, kernel 2: tiled MMA",
    .ladder = Ladder::sgemm,
    .origin = Origin::tutorial,
    .rejects = Kernel::rejects,
};

}  // namespace inlay::kernels::sgemm_02_tiled_mma
