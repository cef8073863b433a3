// Any move, in tiles of 16 KB.
#pragma once
#include <inlay/kernels/move/gather_tile.h>

namespace inlay::kernels::permute_01_tile {

struct Step {
  static constexpr int threads = 256, bytes = 20 << 10, min_blocks = 4, blocks_per_sm = 0;
};
template <class T>
using Kernel = GatherTile<Carrier<T>, Step>;

}  // namespace inlay::kernels::permute_01_tile
