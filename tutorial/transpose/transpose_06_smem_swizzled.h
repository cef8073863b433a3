// A swizzle instead of padding: granule indices are xored with the row number; no bank conflicts.
#pragma once
#include <inlay/tutorial/transpose/smem_tile.h>

namespace inlay::kernels::transpose_06_smem_swizzled {

struct Step : SmemStep {
  using Tile = StepTile;  // (BLK_M,BLK_N)
  using Swz = ConflictFree<size<1>(Tile{}), sizeof(float)>::type;
  using SmemLayout = SwizzledRows<Tile, Swz>;  // (BLK_M,BLK_N)
};
using Kernel = SmemTile<Step>;
using Dispatch = Kernel;

inline constexpr Info<Copy> info = {
    .name = "transpose_06_smem_swizzled",
    .idea = "A swizzle derived from the width of the tile and the element size: free of conflicts, not a byte wasted.",
    .source = "Lei Mao: shared memory, swizzled; Colfax: SMEM swizzle",
    .ladder = Ladder::transpose,
    .origin = Origin::tutorial,
    .rejects = rejects_step<Kernel>,
};

}  // namespace inlay::kernels::transpose_06_smem_swizzled
