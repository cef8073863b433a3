// Blocks of copy_tiled make the same accesses if their tiles have the same extents, begin at the
// same offsets within sectors, and lie inside the source or at the same distances from its ends.
#pragma once
#include <inlay/kernels/copy/copy_tiled.h>
#include <inlay/kernels/copy/tile_grid_samples.h>

#include <array>
#include <map>

namespace inlay::kernels {

template <class T, class Instance>
struct Kinds<CopyTiled<T, Instance>> {
  template <class F>
  static void each(CopyTiled<T, Instance> const& kernel, F f) {
    using Key = std::array<int64_t, 9>;
    std::map<Key, std::pair<int64_t, int64_t>> alike;  // first block and number of blocks of a kind
    for (int64_t block = 0; block < kernel.blocks(); ++block) {
      auto const b = kernel.here(kernel.block_tile(unsigned(block)));
      Key const key{b.left[0],
                    b.left[1],
                    b.left[2],
                    b.smem_bytes,
                    b.is_first(),
                    int64_t(reinterpret_cast<uintptr_t>(b.src) % 32),
                    int64_t(reinterpret_cast<uintptr_t>(b.dst) % 32),
                    b.is_inside() ? -1 : b.src - kernel.range.first,
                    b.is_inside() ? -1 : kernel.range.last - b.src};
      ++alike.try_emplace(key, block, 0).first->second.second;
    }
    for (auto const& [key, blocks] : alike) f(kernel, blocks.first, blocks.second);
  }
};

}  // namespace inlay::kernels
