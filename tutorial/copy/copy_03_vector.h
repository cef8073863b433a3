// One 16-byte vector per thread, no loop. This kernel or cudaMemcpyAsync sets the copy limit.
#pragma once
#include <inlay/kernels/copy/direct_tile.h>
#include <inlay/tutorial/copy/step.h>

namespace inlay::kernels::copy_03_vector {

struct Step {
  static constexpr Writes writes = Writes::copy;
  using Tile = Shape<_1, _256>;                               // (BLK_M,BLK_N), in vectors
  using Threads = Layout<Shape<_1, _256>, Stride<_256, _1>>;  // (THR_M,THR_N)
};
using Kernel = DirectTile<Vector16, Step>;  // for elements of any size
using Dispatch = Kernel;

inline constexpr Info<Copy> info = {
    .name = "copy_03_vector",
    .idea = "One 16-byte vector per thread, no loop: short-lived blocks in sequential order set the copy limit.",
    .source = "inlay",
    .ladder = Ladder::copy,
    .origin = Origin::ours,
    .rejects = rejects_at_any_size<Kernel>,
};

}  // namespace inlay::kernels::copy_03_vector
