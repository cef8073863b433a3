// Blocks of the tile kernel are alike where their tiles are as large, begin alike within sectors, and have the source's ends as
// near.
#pragma once
#include <inlay/kernels/common/tile_grid_samples.h>
#include <inlay/kernels/copy/copy_tiled.h>

#include <array>
#include <map>

namespace inlay::kernels {

template <class T, class Step>
struct Kinds<CopyTiled<T, Step>> {
  template <class F>
  static void each(CopyTiled<T, Step> const& kernel, F f) {
    using Key = std::array<int64_t, 9>;
    std::map<Key, std::pair<int64_t, int64_t>> alike;  // to the first of them, and how many there are
    for (int64_t block = 0; block < kernel.blocks(); ++block) {
      auto const h = kernel.here(unsigned(block));
      bool const inside = h.inside;  // else how near the ends are counts
      auto const low = h.src - kernel.range.first, high = kernel.range.last - h.src;
      Key const key{h.left[0],
                    h.left[1],
                    h.left[2],
                    h.image,
                    h.begins,
                    int64_t(reinterpret_cast<uintptr_t>(h.src) % 32),
                    int64_t(reinterpret_cast<uintptr_t>(h.dst) % 32),
                    inside ? -1 : low,
                    inside ? -1 : high};
      ++alike.try_emplace(key, block, 0).first->second.second;
    }
    for (auto const& [key, blocks] : alike) f(kernel, blocks.first, blocks.second);
  }
};

}  // namespace inlay::kernels
