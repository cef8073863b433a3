// Shared by kernels for any layout: the address range of the source, and modes that an index is decomposed into.
#pragma once
#include <inlay/block/register_ops.h>
#include <inlay/kernels/copy/tile_grid.h>

namespace inlay::kernels {

// Addresses [first, last) of the source.
struct SourceRange {
  char const *first, *last;
  SourceRange() = default;
  explicit SourceRange(Copy const& m) : first(static_cast<char const*>(m.src)), last(first + m.elem_bytes) {
    for (int i = 0; i < m.rank; ++i)
      (m.mode[i].src_stride < 0 ? first : last) += m.mode[i].src_stride * (m.mode[i].extent - 1);
  }
  void relocate(auto const& at) { first = at(first), last = at(last); }
  CUTE_HOST_DEVICE bool holds(char const* from, int bytes) const { return from >= first && from + bytes <= last; }
};

// The last parameters of a kernel: an SM loads them with a long latency, about 256 bytes at a time.
template <int kMost>
struct CountedModes {
  struct One {
    Divisor extent;
    int64_t src, dst;
  };
  int count = 0;
  One mode[kMost];

  void add(Mode const& m) { mode[count++] = {int(m.extent), m.src_stride, m.dst_stride}; }
  // Advances both addresses to index number `index`; the first mode runs fastest.
  CUTE_HOST_DEVICE void advance(int index, char const*& from, char*& to) const {
    int64_t source = 0,
            destination =
                0;  // offsets: the compiler does not see that a pointer changed in a loop points to global memory
    CUTE_NO_UNROLL
    for (int k = 0; k < count; ++k) {
      int digit;
      mode[k].extent(index, digit, index);
      source += digit * mode[k].src;
      destination += digit * mode[k].dst;
    }
    from += source, to += destination;
  }
};

}  // namespace inlay::kernels
