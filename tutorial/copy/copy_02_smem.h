// Step 01 through shared memory with a barrier: what this part of a tiled transpose costs alone.
#pragma once
#include <inlay/tutorial/transpose/smem_tile.h>

namespace inlay::kernels::copy_02_smem {

struct Step : SmemStep {
  static constexpr Writes writes = Writes::copy;
  static constexpr int threads = 256;
  using Tile = Shape<_1, _1024>;      // (BLK_M,BLK_N)
  using SmemLayout = RowMajor<Tile>;  // (BLK_M,BLK_N)
};
using Kernel = SmemTile<Step>;
using Dispatch = Kernel;

inline constexpr Info<Copy> info = {
    .name = "copy_02_smem",
    .idea = "Through shared memory and a barrier that is not needed here: each thread reads back what it wrote itself.",
    .source = "Harris: copySharedMem",
    .ladder = Ladder::copy,
    .origin = Origin::tutorial,
    .rejects = rejects_step<Kernel>,
};

}  // namespace inlay::kernels::copy_02_smem
