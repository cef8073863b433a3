// copy_03_vector with evict_last loads: faster than cudaMemcpyAsync for large matrices.
#pragma once
#include <inlay/block/load_ops.h>
#include <inlay/kernels/copy/direct_tile.h>

namespace inlay::kernels::copy_contiguous {

struct Step {
  static constexpr Writes writes = Writes::copy;
  static constexpr bool follows = true;
  using Tile = Shape<_1, _256>;                               // (BLK_M,BLK_N), in vectors
  using Threads = Layout<Shape<_1, _256>, Stride<_256, _1>>;  // (THR_M,THR_N)
};
template <class T>
using Kernel = DirectTile<Vector16, Step, LoadEvictLast<Vector16>>;  // for elements of any size
using Dispatch = ByElement<Kernel>;

inline constexpr Info<Copy> info = {
    .name = "copy_contiguous",
    .idea =
        "One 16-byte vector per thread, loaded under the L2 policy evict_last: on large matrices faster than the copy "
        "limit.",
    .source = "inlay",
    .ladder = Ladder::copy,
    .origin = Origin::ours,
    .rejects = rejects<Kernel>,
    .seconds = seconds<Kernel>,
};

}  // namespace inlay::kernels::copy_contiguous
