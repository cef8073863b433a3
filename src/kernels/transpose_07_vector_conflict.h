// 16-byte loads from global memory into a plain row-major tile; its columns are read one element at a time.
#pragma once
#include "kernels/smem_tile.h"

namespace inlay::kernels::transpose_07_vector_conflict {

template <class T>
struct Step : SmemStep<T> {
  using Tile = TileFor<T>;            // (BLK_M,BLK_N)
  using SmemLayout = RowMajor<Tile>;  // (BLK_M,BLK_N)
  using Load = UniversalCopy<Vector16>;
  static constexpr int vector = 16 / sizeof(T);
  static constexpr int read_apart = 1;
};
template <class T>
using Kernel = SmemTile<T, Step<T>>;

inline constexpr Info<Move> info = {"transpose_07_vector_conflict",
                                    "16 bytes a load instruction; the column reads still meet one bank.",
                                    "Lei Mao: vectorized, bank conflict read",
                                    rejects<Kernel>,
                                    cost<Kernel>,
                                    no_workspace};

}  // namespace inlay::kernels::transpose_07_vector_conflict
