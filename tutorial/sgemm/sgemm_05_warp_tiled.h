// Step 04 with warp tiles of 32x64 in 4x4 blocks of a thread, and D written through shared memory.
#pragma once
#include <inlay/kernels/gemm/fma/tile.h>

namespace inlay::kernels::sgemm_05_warp_tiled {

// Operands are copied element by element, lanes along k, in three stages.
struct Step : SgemmStep {
  using FetchA = FetchAlongK<AsyncElement, threads, BLK_K>;
  using FetchB = FetchAlongK<AsyncElement, threads, BLK_K>;
  using SmemA = Stages<BLK_M, BLK_K, 3, 4>;  // (BLK_M,BLK_K,PIPE)
  using SmemB = Stages<BLK_N, BLK_K, 3, 4>;  // (BLK_N,BLK_K,PIPE)
};
using Kernel = SgemmTile<Step>;
using Dispatch = Kernel;

inline constexpr Info<Gemm> info = {
    .name = "sgemm_05_warp_tiled",
    .idea =
        "Warp tiles make shared reads 16 bytes, one for 16 multiplications, and C leaves in whole sectors; lanes along "
        "k find B scattered at nn.",
    .source = "worklog, kernel 5: warp tiling and coalesced epilogue",
    .ladder = Ladder::sgemm,
    .origin = Origin::tutorial,
    .rejects = Kernel::rejects,
};

}  // namespace inlay::kernels::sgemm_05_warp_tiled
