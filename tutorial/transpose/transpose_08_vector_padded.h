// Padding of 16 bytes per row keeps vectors aligned; rows r and r + 8 are in the same banks.
#pragma once
#include <inlay/tutorial/transpose/smem_tile.h>

namespace inlay::kernels::transpose_08_vector_padded {

struct Step : SmemStep {
  using Tile = StepTile;                                         // (BLK_M,BLK_N)
  using SmemLayout = PaddedRows<Tile, Int<16 / sizeof(float)>>;  // (BLK_M,BLK_N):(BLK_N+V,1)
  using Load = UniversalCopy<Vector16>;
  static constexpr int vector = 16 / sizeof(float);
};
using Kernel = SmemTile<Step>;
using Dispatch = Kernel;

inline constexpr Info<Copy> info = {
    .name = "transpose_08_vector_padded",
    .idea = "A compromise: padding that keeps 16-byte vectors aligned leaves rows r and r+8 of a column in one bank.",
    .source = "Lei Mao: vectorized, padded",
    .ladder = Ladder::transpose,
    .origin = Origin::tutorial,
    .rejects = rejects_step<Kernel>,
};

}  // namespace inlay::kernels::transpose_08_vector_padded
