// Transposes through shared memory: coalesced both ways. Elements of a tile column share a bank.
#pragma once
#include <inlay/tutorial/transpose/smem_tile.h>

namespace inlay::kernels::transpose_03_smem_read_conflict {

struct Step : SmemStep {
  using Tile = StepTile;              // (BLK_M,BLK_N)
  using SmemLayout = RowMajor<Tile>;  // (BLK_M,BLK_N)
};
using Kernel = SmemTile<Step>;
using Dispatch = Kernel;

inline constexpr Info<Copy> info = {
    .name = "transpose_03_smem_read_conflict",
    .idea = "Coalesced both ways through a row-major tile; reading its columns puts all lanes of a pass in one bank.",
    .source = "Lei Mao: shared memory, bank conflict read; Colfax: SMEM transpose; Harris: transposeCoalesced",
    .ladder = Ladder::transpose,
    .origin = Origin::tutorial,
    .rejects = rejects_step<Kernel>,
};

}  // namespace inlay::kernels::transpose_03_smem_read_conflict
