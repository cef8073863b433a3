#include "layout/suggest.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <queue>

namespace inlay::lab {
namespace {

constexpr std::int64_t kMostVisited = std::int64_t(1) << 25;  // elements of all padded tiles: takes less than a second

class Search {
 public:
  Search(Layout const& layout, std::vector<WarpAccess> const& accesses, int elem_bytes)
      : plain_(layout.with({})), accesses_(accesses), elem_bytes_(elem_bytes), cosize_(plain_.cosize()) {
    for (WarpAccess const& a : accesses_) vector_ = std::max<std::int64_t>(vector_, a.bytes / elem_bytes_);
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
  // Suggestion::excess of a tile; at most `enough`, also if vectors are not contiguous any more.
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

  // In the order of their bits, of falling bases, which keep longer vectors contiguous, and of their shifts.
  void try_swizzles(TileOffsets const& tile) {
    int const vector_bits = std::countr_zero(std::uint64_t(vector_));
    int const offset_bits = std::bit_width(std::uint64_t(cosize_ - 1));
    for (int bits = 1; vector_bits + 2 * bits <= offset_bits; ++bits)
      for (int base = offset_bits - 2 * bits; base >= vector_bits; --base)
        for (int shift = bits; base + shift + bits <= offset_bits; ++shift) {
          Swizzle const swizzle{bits, base, shift};
          TileOffsets swizzled = tile;
          std::int64_t largest = 0;
          for (std::int64_t& offset : swizzled.offsets) largest = std::max(largest, offset = swizzle(offset));
          if (largest < cosize_) consider(plain_.with(swizzle), swizzled, 0);
        }
  }

  // Paddings are whole vectors, which keeps vectors aligned, and below 128 bytes, after which the banks repeat.
  bool lengthen(std::int64_t& padding) const { return (padding += vector_) < 128 / elem_bytes_; }

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

  // Paddings of several pitches at once, in the order of their memory, until one has no conflicts or needs as much
  // memory as a padding of one pitch that has none.
  void try_nested_paddings() {
    if (plain_.pitches().size() < 2) return;
    std::int64_t limit = kSharedBytes / elem_bytes_;  // of the cosize
    for (Suggestion const& one : found_.free)
      if (one.more_bytes) limit = std::min(limit, cosize_ + one.more_bytes / elem_bytes_ - 1);
    struct Node {
      std::int64_t cosize;
      std::vector<std::int64_t> by;
      std::size_t last;  // the pitch padded last; only it and later ones grow, so that each padding is visited once
      bool operator<(Node const& other) const { return cosize > other.cosize; }
    };
    std::priority_queue<Node> next;
    next.push({cosize_, std::vector<std::int64_t>(plain_.pitches().size()), 0});
    for (std::size_t const free = found_.free.size(); !next.empty() && found_.free.size() == free;) {
      Node node = next.top();
      next.pop();
      if (std::count(node.by.begin(), node.by.end(), 0) + 1 < std::ptrdiff_t(node.by.size())) {
        if (paddings_ * plain_.size() >= kMostVisited) return void(found_.paddings_tried = paddings_);
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
  std::int64_t vector_ = 1;    // the most elements of a lane
  unsigned nearest_ = 0;       // the least excess up to now
  std::int64_t paddings_ = 0;  // tried up to now
  Suggestions found_;
};

}  // namespace

Suggestions suggest(Layout const& layout, std::vector<WarpAccess> const& accesses, int elem_bytes) {
  return Search(layout, accesses, elem_bytes).run();
}

}  // namespace inlay::lab
