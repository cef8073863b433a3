// One element per access: each thread copies four elements of a row, 256 elements apart.
#pragma once
#include <inlay/kernels/copy/direct_tile.h>

namespace inlay::kernels::copy_01_scalar {

template <class T>
struct Step {
  static constexpr Writes writes = Writes::copy;
  using Tile = Shape<_1, _1024>;                              // (BLK_M,BLK_N)
  using Threads = Layout<Shape<_1, _256>, Stride<_256, _1>>;  // (THR_M,THR_N)
};
template <class T>
using Kernel = DirectTile<T, Step<T>>;
using Dispatch = ByElement<Kernel>;

inline constexpr Info<Copy> info = {
    .name = "copy_01_scalar",
    .idea = "One element per access, four per thread: coalesced, but a small element leaves lanes narrow.",
    .source = "Harris: copy",
    .ladder = Ladder::copy,
    .origin = Origin::tutorial,
    .rejects = rejects<Kernel>,
    .counts = counts<Kernel>,
};

}  // namespace inlay::kernels::copy_01_scalar
