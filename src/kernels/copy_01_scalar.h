// The plainest copy: every access moves one element, every thread several of them, a block's width apart.
#pragma once
#include "kernels/direct_tile.h"

namespace inlay::kernels::copy_01_scalar {

template <class T>
struct Step {
  static constexpr Writes writes = Writes::copy;
  using Tile = Shape<_1, _1024>;                              // (BLK_M,BLK_N)
  using Threads = Layout<Shape<_1, _256>, Stride<_256, _1>>;  // (THR_M,THR_N)
};
template <class T>
using Kernel = DirectTile<T, Step<T>>;

inline constexpr Info<Move> info = {
    "copy_01_scalar", "One element per access, four per thread: coalesced, but a small element leaves lanes narrow.",
    "Harris: copy",   rejects<Kernel>,
    cost<Kernel>,     no_workspace};

}  // namespace inlay::kernels::copy_01_scalar
