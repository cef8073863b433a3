// 16-byte loads from global memory into a row-major tile; columns are read one element at a time.
#pragma once
#include <inlay/tutorial/transpose/smem_tile.h>

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
using Dispatch = ByElement<Kernel>;

inline constexpr Info<Copy> info = {
    .name = "transpose_07_vector_conflict",
    .idea = "16 bytes a load instruction; the column reads still meet one bank.",
    .source = "Lei Mao: vectorized, bank conflict read",
    .ladder = Ladder::transpose,
    .origin = Origin::tutorial,
    .rejects = rejects<Kernel>,
    .counts = counts<Kernel>,
};

}  // namespace inlay::kernels::transpose_07_vector_conflict
