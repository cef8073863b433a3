// Step 08 by a swizzle of 16-byte granules: 128 bytes hold eight, so rows r and r + 8 share banks.
#pragma once
#include <inlay/tutorial/transpose/smem_tile.h>

namespace inlay::kernels::transpose_09_vector_swizzled {

struct Step : SmemStep {
  using Tile = StepTile;  // (BLK_M,BLK_N)
  using Swz = ConflictFree<size<1>(Tile{}), sizeof(float), 16>::type;
  using SmemLayout = SwizzledRows<Tile, Swz>;  // (BLK_M,BLK_N)
  using Load = UniversalCopy<Vector16>;
  static constexpr int vector = 16 / sizeof(float);
};
using Kernel = SmemTile<Step>;
using Dispatch = Kernel;

inline constexpr Info<Copy> info = {
    .name = "transpose_09_vector_swizzled",
    .idea =
        "A compromise: a swizzle of 16-byte granules spreads a column over 8 places, so lanes t and t+8 share a bank.",
    .source = "Lei Mao: vectorized, swizzled",
    .ladder = Ladder::transpose,
    .origin = Origin::tutorial,
    .rejects = rejects_step<Kernel>,
};

}  // namespace inlay::kernels::transpose_09_vector_swizzled
