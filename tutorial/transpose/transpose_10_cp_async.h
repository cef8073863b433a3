// Step 06 with cp.async, which bypasses registers and needs cp_async_fence and cp_async_wait.
#pragma once
#include <inlay/tutorial/transpose/smem_tile.h>

namespace inlay::kernels::transpose_10_cp_async {

struct Step : SmemStep {
  using Tile = StepTile;  // (BLK_M,BLK_N)
  using Swz = ConflictFree<size<1>(Tile{}), sizeof(float)>::type;
  using SmemLayout = SwizzledRows<Tile, Swz>;     // (BLK_M,BLK_N)
  using Load = SM80_CP_ASYNC_CACHEALWAYS<float>;  // of 4, 8 or 16 bytes
};
using Kernel = SmemTile<Step>;
using Dispatch = Kernel;

inline constexpr Info<Copy> info = {
    .name = "transpose_10_cp_async",
    .idea = "Step 06 by cp.async: global to shared without registers, committed as a group and waited for.",
    .source = "Lei Mao and Colfax: fence and wait around the copy",
    .ladder = Ladder::transpose,
    .origin = Origin::tutorial,
    .rejects = rejects_step<Kernel>,
};

}  // namespace inlay::kernels::transpose_10_cp_async
