// Lanes run along rows of the output. Caches make strided reads cheaper than strided writes.
#pragma once
#include <inlay/kernels/copy/direct_tile.h>
#include <inlay/tutorial/copy/step.h>

namespace inlay::kernels::transpose_02_naive_write {

struct Step {  // lanes run along the rows of the output
  static constexpr Writes writes = Writes::transpose;
  using Tile = Shape<_32, _32>;                             // (BLK_M,BLK_N)
  using Threads = Layout<Shape<_32, _8>, Stride<_1, _32>>;  // (THR_M,THR_N), lanes along M
};
using Kernel = DirectTile<float, Step>;
using Dispatch = Kernel;

inline constexpr Info<Copy> info = {
    .name = "transpose_02_naive_write",
    .idea = "Coalesced writes, strided reads: the L1 keeps the sectors until their neighbours are asked for.",
    .source = "Lei Mao: naive, coalesced write",
    .ladder = Ladder::transpose,
    .origin = Origin::tutorial,
    .rejects = rejects_step<Kernel>,
};

}  // namespace inlay::kernels::transpose_02_naive_write
