// 16-byte loads from global memory into a row-major tile; columns are read one element at a time.
#pragma once
#include <inlay/tutorial/transpose/smem_tile.h>

namespace inlay::kernels::transpose_07_vector_conflict {

struct Step : SmemStep {
  using Tile = StepTile;              // (BLK_M,BLK_N)
  using SmemLayout = RowMajor<Tile>;  // (BLK_M,BLK_N)
  using Load = UniversalCopy<Vector16>;
  static constexpr int vector = 16 / sizeof(float);
};
using Kernel = SmemTile<Step>;
using Dispatch = Kernel;

inline constexpr Info<Copy> info = {
    .name = "transpose_07_vector_conflict",
    .idea = "16 bytes a load instruction; the column reads still meet one bank.",
    .source = "Lei Mao: vectorized, bank conflict read",
    .ladder = Ladder::transpose,
    .origin = Origin::tutorial,
    .rejects = rejects_step<Kernel>,
};

}  // namespace inlay::kernels::transpose_07_vector_conflict
