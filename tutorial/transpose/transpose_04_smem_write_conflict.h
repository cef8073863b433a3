// Step 03 with a column-major tile: the shared stores have bank conflicts, the shared loads do not.
#pragma once
#include <inlay/tutorial/transpose/smem_tile.h>

namespace inlay::kernels::transpose_04_smem_write_conflict {

struct Step : SmemStep {
  using Tile = StepTile;                 // (BLK_M,BLK_N)
  using SmemLayout = ColumnMajor<Tile>;  // (BLK_M,BLK_N)
};
using Kernel = SmemTile<Step>;
using Dispatch = Kernel;

inline constexpr Info<Copy> info = {
    .name = "transpose_04_smem_write_conflict",
    .idea =
        "Coalesced both ways through a column-major tile; writing rows into it puts all lanes of a pass in one bank.",
    .source = "Lei Mao: shared memory, bank conflict write",
    .ladder = Ladder::transpose,
    .origin = Origin::tutorial,
    .rejects = rejects_step<Kernel>,
};

}  // namespace inlay::kernels::transpose_04_smem_write_conflict
