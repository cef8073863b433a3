// One element per access: each thread copies four elements of a row, 256 elements apart.
#pragma once
#include <inlay/kernels/copy/direct_tile.h>
#include <inlay/tutorial/copy/step.h>

namespace inlay::kernels::copy_01_scalar {

struct Step {
  static constexpr Writes writes = Writes::copy;
  using Tile = Shape<_1, _1024>;                              // (BLK_M,BLK_N)
  using Threads = Layout<Shape<_1, _256>, Stride<_256, _1>>;  // (THR_M,THR_N)
};
using Kernel = DirectTile<float, Step>;
using Dispatch = Kernel;

inline constexpr Info<Copy> info = {
    .name = "copy_01_scalar",
    .idea = "One element per access, four per thread: coalesced, but a small element leaves lanes narrow.",
    .source = "Harris: copy",
    .ladder = Ladder::copy,
    .origin = Origin::tutorial,
    .rejects = rejects_step<Kernel>,
};

}  // namespace inlay::kernels::copy_01_scalar
