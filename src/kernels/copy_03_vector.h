// One 16-byte vector per thread and no loop: the kernel of the copy limit.
#pragma once
#include "kernels/direct_tile.h"

namespace inlay::kernels::copy_03_vector {

template <class T>
struct Step {
  static constexpr Writes writes = Writes::copy;
  using Tile = Shape<_1, Int<256 * 16 / sizeof(T)>>;          // (BLK_M,BLK_N)
  using Threads = Layout<Shape<_1, _256>, Stride<_256, _1>>;  // (THR_M,THR_N)
  using Access = Vector16;
};
template <class T>
using Kernel = DirectTile<T, Step<T>>;

inline constexpr Info<Move> info = {
    "copy_03_vector",
    "One 16-byte vector per thread, no loop: short-lived blocks in sequential order set the copy limit.",
    "inlay",
    rejects<Kernel>,
    cost<Kernel>,
    no_workspace};

}  // namespace inlay::kernels::copy_03_vector
