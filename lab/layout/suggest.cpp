#include "layout/suggest.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace inlay::lab {
namespace {

class Search {
 public:
  Search(Layout const& layout, std::vector<WarpAccess> const& accesses, int elem_bytes)
      : plain_(layout.with({})), accesses_(accesses), elem_bytes_(elem_bytes), cosize_(plain_.cosize()) {}

  Suggestions run() {
    TileOffsets const tile = tile_of(plain_);
    for (WarpAccess const& a : accesses_)
      if (!vectors_of(tile, a, elem_bytes_)) {
        found_.impossible = &a;
        return found_;
      }
    nearest_ = excess(tile, std::numeric_limits<unsigned>::max());
    if ((found_.plain_is_free = nearest_ == 0)) return found_;
    try_swizzles(tile);
    try_paddings();
    if (!found_.free.empty()) found_.nearest.clear();
    return found_;
  }

 private:
  // Summed over the accesses; stops counting at `enough`. Vectors that are no longer contiguous count as that.
  unsigned excess(TileOffsets const& tile, unsigned enough) const {
    unsigned sum = 0;
    for (WarpAccess const& a : accesses_) {
      auto const vectors = vectors_of(tile, a, elem_bytes_);
      if (!vectors) return enough;
      sum += excess_of(tile, a, *vectors, elem_bytes_, enough - sum);
      if (sum >= enough) return enough;
    }
    return sum;
  }

  void consider(Layout const& layout, TileOffsets const& tile, std::int64_t more_bytes) {
    unsigned const e = excess(tile, std::max(nearest_, 1u));
    if (e == 0) found_.free.push_back({layout, more_bytes, 0});
    if (e >= nearest_) return;
    nearest_ = e;
    found_.nearest = {{layout, more_bytes, e}};
  }

  // Fewer bits first, then those that keep longer vectors whole, then the shorter shift.
  void try_swizzles(TileOffsets const& tile) {
    int longest = 1;
    for (WarpAccess const& a : accesses_) longest = std::max(longest, a.bytes / elem_bytes_);
    int const whole = std::countr_zero(unsigned(longest)), reach = std::bit_width(std::uint64_t(cosize_ - 1));
    for (int bits = 1; whole + 2 * bits <= reach; ++bits)
      for (int base = reach - 2 * bits; base >= whole; --base)
        for (int shift = bits; base + shift + bits <= reach; ++shift) {
          Swizzle const swizzle{bits, base, shift};
          TileOffsets swizzled = tile;
          std::int64_t largest = 0;
          for (std::int64_t& offset : swizzled.offsets) largest = std::max(largest, offset = swizzle(offset));
          if (largest < cosize_) consider(plain_.with(swizzle), swizzled, 0);
        }
  }

  // The banks repeat after 128 bytes: longer paddings tell nothing new.
  void try_paddings() {
    auto const swizzles = std::ptrdiff_t(found_.free.size());
    for (std::int64_t const pitch : plain_.pitches())
      for (std::int64_t by = 1; by < 128 / elem_bytes_; ++by) {
        Layout const padded = plain_.padded(pitch, by);
        std::int64_t const cosize = padded.cosize();
        if (cosize * elem_bytes_ <= kSharedBytes) consider(padded, tile_of(padded), (cosize - cosize_) * elem_bytes_);
      }
    std::stable_sort(found_.free.begin() + swizzles, found_.free.end(),
                     [](Suggestion const& a, Suggestion const& b) { return a.more_bytes < b.more_bytes; });
  }

  Layout const plain_;
  std::vector<WarpAccess> const& accesses_;
  int const elem_bytes_;
  std::int64_t const cosize_;
  unsigned nearest_ = 0;
  Suggestions found_;
};

}  // namespace

Suggestions suggest(Layout const& layout, std::vector<WarpAccess> const& accesses, int elem_bytes) {
  return Search(layout, accesses, elem_bytes).run();
}

}  // namespace inlay::lab
