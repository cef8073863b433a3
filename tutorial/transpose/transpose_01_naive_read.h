// Lanes run along rows of the input: coalesced loads, but each stored element is in its own sector.
#pragma once
#include <inlay/kernels/copy/direct_tile.h>
#include <inlay/tutorial/copy/step.h>

namespace inlay::kernels::transpose_01_naive_read {

struct Step {
  static constexpr Writes writes = Writes::transpose;
  using Tile = Shape<_32, _32>;                             // (BLK_M,BLK_N)
  using Threads = Layout<Shape<_8, _32>, Stride<_32, _1>>;  // (THR_M,THR_N), lanes along N
};
using Kernel = DirectTile<float, Step>;
using Dispatch = Kernel;

inline constexpr Info<Copy> info = {
    .name = "transpose_01_naive_read",
    .idea = "Coalesced reads, strided writes: a warp's 32 elements land in 32 sectors.",
    .source = "Lei Mao: naive, coalesced read; Colfax: naive; Harris: transposeNaive",
    .ladder = Ladder::transpose,
    .origin = Origin::tutorial,
    .rejects = rejects_step<Kernel>,
};

}  // namespace inlay::kernels::transpose_01_naive_read
