// Rows of the tile are padded by one bank (or element): a column's elements are in different banks.
#pragma once
#include <inlay/tutorial/transpose/smem_tile.h>

namespace inlay::kernels::transpose_05_smem_padded {

struct Step : SmemStep {
  using Tile = StepTile;                                        // (BLK_M,BLK_N)
  using SmemLayout = PaddedRows<Tile, Padding<sizeof(float)>>;  // (BLK_M,BLK_N):(BLK_N+pad,1)
};
using Kernel = SmemTile<Step>;
using Dispatch = Kernel;

inline constexpr Info<Copy> info = {
    .name = "transpose_05_smem_padded",
    .idea = "Padded rows: each row of the tile begins one bank further on, so that a column meets all banks.",
    .source = "Lei Mao: shared memory, padded; Harris: transposeNoBankConflicts",
    .ladder = Ladder::transpose,
    .origin = Origin::tutorial,
    .rejects = rejects_step<Kernel>,
};

}  // namespace inlay::kernels::transpose_05_smem_padded
