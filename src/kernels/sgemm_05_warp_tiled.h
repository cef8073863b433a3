// Step 04 with a tile of 32x64 to a warp, quads of neighbours to a thread, and C written through shared memory.
#pragma once
#include "kernels/sgemm_tile.h"

namespace inlay::kernels::sgemm_05_warp_tiled {

struct Step : WarpTiledStep {
  using FetchA = FetchAlongK<AsyncElement, threads, BLK_K>;
  using FetchB = FetchAlongK<AsyncElement, threads, BLK_K>;
  using SmemA = Stages<BLK_M, BLK_K, 3, 4>;  // (BLK_M,BLK_K,PIPE)
  using SmemB = Stages<BLK_N, BLK_K, 3, 4>;  // (BLK_N,BLK_K,PIPE)
};
using Kernel = SgemmTile<Step>;

inline constexpr Info<Gemm> info = {"sgemm_05_warp_tiled",
                                    "Warp tiles make shared reads 16 bytes, one for 16 multiplications, and C leaves "
                                    "in whole sectors; lanes along k find B scattered at nn.",
                                    "worklog, kernel 5: warp tiling and coalesced epilogue",
                                    Kernel::rejects,
                                    nullptr,
                                    no_workspace};

}  // namespace inlay::kernels::sgemm_05_warp_tiled
