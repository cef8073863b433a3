// Which bytes a view touches, and the checks of views that copies and GEMMs share.
#pragma once
#include <inlay/tensor.h>

#include <cstdint>
#include <string>

namespace inlay::problem {

// "(3,5)": a view's extents, for sentences.
std::string shape(ConstTensor const& t);

// Throw Error with a sentence about `who`. check_extents rejects negative extents. check_memory, for a view with
// elements, rejects: a null pointer, a base that is no multiple of the largest power of two that divides the element
// size, byte offsets beyond 63 bits, bytes outside the address space.
void check_extents(ConstTensor const& t, char const* who);
void check_memory(ConstTensor const& t, char const* who);

// The bytes of a view: [first, last), and the absolute values of its strides with their extents.
struct Footprint {
  struct Mode {
    std::int64_t extent, stride;
  };
  std::uint64_t first, last;
  std::int64_t elem_bytes;
  int rank = 0;
  Mode mode[Tensor::kMaxRank];  // without extents of 1

  // A contiguous range of memory inside the address space.
  Footprint(void const* base, std::int64_t bytes);
  // A view with elements that check_memory has accepted.
  explicit Footprint(ConstTensor const& t);
};

// Whether two views may share a byte. They share none if their address ranges are disjoint or if, modulo one of their
// strides, their bytes form disjoint intervals, such as two column blocks of one matrix. Otherwise the answer is exact
// if both views have one mode once their modes are merged, such as two diagonals of a matrix, or two of which the
// shorter ones have at most 4096 pairs of indices. Every other case counts as an overlap.
bool overlap(Footprint const& a, Footprint const& b);
// Whether two elements of a view may share a byte. They share none if each stride is at least the span of all modes
// with smaller strides. Every other case counts as an overlap.
bool overlaps_itself(Footprint f);

}  // namespace inlay::problem
