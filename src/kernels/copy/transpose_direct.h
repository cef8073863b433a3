// Transposes without shared memory, for matrices so small that latency decides: many small blocks and no barrier.
#pragma once
#include <inlay/kernels/copy/direct_tile.h>

namespace inlay::kernels::transpose_direct {

template <class T>
struct Step {
  static constexpr Writes writes = Writes::transpose;
  using Tile = Shape<_32, _32>;                             // (BLK_M,BLK_N)
  using Threads = Layout<Shape<_32, _8>, Stride<_1, _32>>;  // (THR_M,THR_N), lanes along M
};
template <class T>
using Kernel = DirectTile<T, Step<T>>;
using Dispatch = ByElement<Kernel>;

inline constexpr Info<Move> info = {
    .name = "transpose_direct",
    .idea = "Coalesced writes, strided reads, no barrier: the fastest where latency is most of the time.",
    .source = "inlay",
    .ladder = Ladder::transpose,
    .origin = Origin::ours,
    .rejects = rejects<Kernel>,
    .counts = counts<Kernel>,
    .seconds = seconds<Kernel>,
};

}  // namespace inlay::kernels::transpose_direct
