#include "layout/suggest.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <queue>

namespace inlay::lab {
namespace {

constexpr std::int64_t kMostLookedAt = std::int64_t(1) << 25;  // elements of padded tiles: less than a second

class Search {
 public:
  Search(Layout const& layout, std::vector<WarpAccess> const& accesses, int elem_bytes)
      : plain_(layout.with({})), accesses_(accesses), elem_bytes_(elem_bytes), cosize_(plain_.cosize()) {
    for (WarpAccess const& a : accesses_) longest_ = std::max<std::int64_t>(longest_, a.bytes / elem_bytes_);
  }

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
    int const whole = std::countr_zero(std::uint64_t(longest_)), reach = std::bit_width(std::uint64_t(cosize_ - 1));
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

  // Whole vectors, so that all of them stay aligned. The banks repeat after 128 bytes: more tells nothing new.
  bool lengthen(std::int64_t& padding) const { return (padding += longest_) < 128 / elem_bytes_; }

  void try_padding(Layout const& padded) {
    consider(padded, tile_of(padded), (padded.cosize() - cosize_) * elem_bytes_);
    ++paddings_;
  }

  void try_paddings() {
    auto const swizzles = std::ptrdiff_t(found_.free.size());
    auto const n = plain_.pitches().size();
    for (std::size_t pitch = 0; pitch < n; ++pitch)
      for (std::vector<std::int64_t> by(n); lengthen(by[pitch]);)
        if (Layout const padded = plain_.padded(by); padded.cosize() * elem_bytes_ <= kSharedBytes) try_padding(padded);
    try_nested_paddings();
    std::stable_sort(found_.free.begin() + swizzles, found_.free.end(),
                     [](Suggestion const& a, Suggestion const& b) { return a.more_bytes < b.more_bytes; });
  }

  // Paddings of several pitches at once, the least memory first, until one is free or needs no less than one that is free.
  void try_nested_paddings() {
    if (plain_.pitches().size() < 2) return;
    std::int64_t limit = kSharedBytes / elem_bytes_;  // of the cosize
    for (Suggestion const& one : found_.free)
      if (one.more_bytes) limit = std::min(limit, cosize_ + one.more_bytes / elem_bytes_ - 1);
    struct Node {
      std::int64_t cosize;
      std::vector<std::int64_t> by;
      std::size_t last;  // the pitch that was padded last: each padding is reached in one way
      bool operator<(Node const& other) const { return cosize > other.cosize; }
    };
    std::priority_queue<Node> next;
    next.push({cosize_, std::vector<std::int64_t>(plain_.pitches().size()), 0});
    for (std::size_t const free = found_.free.size(); !next.empty() && found_.free.size() == free;) {
      Node node = next.top();
      next.pop();
      if (std::count(node.by.begin(), node.by.end(), 0) + 1 < std::ptrdiff_t(node.by.size())) {
        if (paddings_ * plain_.size() >= kMostLookedAt) return void(found_.paddings_tried = paddings_);
        try_padding(plain_.padded(node.by));
      }
      for (std::size_t pitch = node.last; pitch < node.by.size(); ++pitch) {
        auto const padding = node.by[pitch];
        if (lengthen(node.by[pitch]))
          if (std::int64_t const cosize = plain_.padded(node.by).cosize(); cosize <= limit)
            next.push({cosize, node.by, pitch});
        node.by[pitch] = padding;
      }
    }
  }

  Layout const plain_;
  std::vector<WarpAccess> const& accesses_;
  int const elem_bytes_;
  std::int64_t const cosize_;
  std::int64_t longest_ = 1;  // elements of a lane
  unsigned nearest_ = 0;
  std::int64_t paddings_ = 0;  // that were tried
  Suggestions found_;
};

}  // namespace

Suggestions suggest(Layout const& layout, std::vector<WarpAccess> const& accesses, int elem_bytes) {
  return Search(layout, accesses, elem_bytes).run();
}

}  // namespace inlay::lab
