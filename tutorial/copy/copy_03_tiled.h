// The tutorial's TiledCopy: four 16-byte vectors per thread, all loaded before the first store.
#pragma once
#include <inlay/kernels/copy/direct_tile.h>
#include <inlay/tutorial/copy/step.h>

namespace inlay::kernels::copy_03_tiled {

struct Step {
  static constexpr Writes writes = Writes::copy;
  using Tile = Shape<_1, _1024>;                              // (BLK_M,BLK_N), in vectors
  using Threads = Layout<Shape<_1, _256>, Stride<_256, _1>>;  // (THR_M,THR_N)
};
using Kernel = DirectTile<Vector16, Step>;  // for elements of any size
using Dispatch = Kernel;

inline constexpr Info<Copy> info = {
    .name = "copy_03_tiled",
    .idea = "A TiledCopy of several 16-byte vectors per thread: it measures slower than one.",
    .source = "Colfax: JustCopy (tiled_copy)",
    .ladder = Ladder::copy,
    .origin = Origin::tutorial,
    .rejects = rejects_at_any_size<Kernel>,
};

}  // namespace inlay::kernels::copy_03_tiled
