// Which bytes a view touches, and what every problem checks of the views that it is given.
#pragma once
#include <inlay/tensor.h>

#include <cstdint>
#include <string>

namespace inlay::problem {

// "(3,5)": a view's extents, for sentences.
std::string shape(ConstTensor const& t);

// Throw Error, a sentence about `who`. The first looks at the extents; the second, for a view with elements, at its
// memory: null, a base that is no multiple of the largest power of two that divides the element size, byte offsets beyond 63 bits,
// bytes outside the address space.
void check_extents(ConstTensor const& t, char const* who);
void check_memory(ConstTensor const& t, char const* who);

// A view's bytes: the first, one past the last, its strides, made positive, with their extents. All in bytes.
struct Footprint {
  struct Mode {
    std::int64_t extent, stride;
  };
  std::uint64_t first, last;
  std::int64_t elem_bytes;
  int rank = 0;
  Mode mode[Tensor::kMaxRank];  // not the extents of 1

  // One piece of memory, inside the address space.
  Footprint(void const* base, std::int64_t bytes);
  // A view with elements whose memory was checked.
  explicit Footprint(ConstTensor const& t);
};

// Two views whose ranges of addresses meet may still be apart: column blocks of one pitched matrix. They are if, modulo
// some row pitch, their bytes form disjoint intervals. Sufficient; anything subtler counts as an overlap.
bool overlap(Footprint const& a, Footprint const& b);
// Sorted by stride, each mode must step over all that lies below it; anything subtler counts as an overlap.
bool overlaps_itself(Footprint f);

}  // namespace inlay::problem
