// The tutorial's TiledCopy: the same vectors, four to a thread, all loads in flight before the first store.
#pragma once
#include "kernels/direct_tile.h"

namespace inlay::kernels::copy_03_tiled {

template <class T>
struct Step {
  static constexpr Writes writes = Writes::copy;
  using Tile = Shape<_1, Int<4 * 256 * 16 / sizeof(T)>>;      // (BLK_M,BLK_N)
  using Threads = Layout<Shape<_1, _256>, Stride<_256, _1>>;  // (THR_M,THR_N)
  using Access = Vector16;
};
template <class T>
using Kernel = DirectTile<T, Step<T>>;

inline constexpr Info<Move> info = {"copy_03_tiled",
                                    "A TiledCopy of several 16-byte vectors per thread: it measures slower than one.",
                                    "Colfax: JustCopy (tiled_copy)",
                                    rejects<Kernel>,
                                    cost<Kernel>,
                                    no_workspace};

}  // namespace inlay::kernels::copy_03_tiled
