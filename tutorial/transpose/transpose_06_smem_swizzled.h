// A swizzle instead of padding: granule indices are xored with the row number; no bank conflicts.
#pragma once
#include <inlay/tutorial/transpose/smem_tile.h>

namespace inlay::kernels::transpose_06_smem_swizzled {

template <class T>
struct Step : SmemStep<T> {
  using Tile = TileFor<T>;  // (BLK_M,BLK_N)
  using Swz = typename ConflictFree<size<1>(Tile{}), sizeof(T)>::type;
  using SmemLayout = SwizzledRows<Tile, Swz>;  // (BLK_M,BLK_N)
};
template <class T>
using Kernel = SmemTile<T, Step<T>>;
using Dispatch = ByElement<Kernel>;

inline constexpr Info<Copy> info = {
    .name = "transpose_06_smem_swizzled",
    .idea = "A swizzle derived from the width of the tile and the element size: free of conflicts, not a byte wasted.",
    .source = "Lei Mao: shared memory, swizzled; Colfax: SMEM swizzle",
    .ladder = Ladder::transpose,
    .origin = Origin::tutorial,
    .rejects = rejects<Kernel>,
    .counts = counts<Kernel>,
};

}  // namespace inlay::kernels::transpose_06_smem_swizzled
