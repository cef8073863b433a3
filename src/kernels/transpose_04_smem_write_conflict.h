// The other place for the conflict: the tile is column-major, so the write is strided and the read is not.
#pragma once
#include "kernels/smem_tile.h"

namespace inlay::kernels::transpose_04_smem_write_conflict {

template <class T>
struct Step : SmemStep<T> {
  using Tile = TileFor<T>;               // (BLK_M,BLK_N)
  using SmemLayout = ColumnMajor<Tile>;  // (BLK_M,BLK_N)
  static constexpr int write_apart = 1;
};
template <class T>
using Kernel = SmemTile<T, Step<T>>;

inline constexpr Info<Move> info = {
    "transpose_04_smem_write_conflict",
    "Coalesced both ways through a column-major tile; writing rows into it puts all lanes of a pass in one bank.",
    "Lei Mao: shared memory, bank conflict write",
    rejects<Kernel>,
    cost<Kernel>,
    no_workspace};

}  // namespace inlay::kernels::transpose_04_smem_write_conflict
