// What the kernels for any layout share: where the source begins and ends, and modes that an index counts through.
#pragma once
#include <inlay/block/register_ops.h>
#include <inlay/kernels/common/tile_grid.h>

namespace inlay::kernels {

// The source's lowest byte, and the one behind its highest.
struct SourceRange {
  char const *first, *last;
  SourceRange() = default;
  explicit SourceRange(Copy const& m) : first(static_cast<char const*>(m.src)), last(first + m.elem_bytes) {
    for (int i = 0; i < m.rank; ++i)
      (m.mode[i].src_stride < 0 ? first : last) += m.mode[i].src_stride * (m.mode[i].extent - 1);
  }
  CUTE_HOST_DEVICE bool holds(char const* from, int bytes) const { return from >= first && from + bytes <= last; }
};

// A kernel has them behind its other parameters: these are far away for the first block of a multiprocessor, and come in
// pieces.
template <int kMost>
struct CountedModes {
  struct One {
    Divisor extent;
    int64_t src, dst;
  };
  int count = 0;
  One mode[kMost];

  void add(Mode const& m) { mode[count++] = {int(m.extent), m.src_stride, m.dst_stride}; }
  // Goes to index number `index`, the first mode running fastest.
  CUTE_HOST_DEVICE void advance(int index, char const*& from, char*& to) const {
    int64_t source = 0, destination = 0;  // the compiler does not see that pointers of a loop are global memory's
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
