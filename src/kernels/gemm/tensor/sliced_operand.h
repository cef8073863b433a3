// Where the 16-bit slices of an fp32 operand lie in memory.
#pragma once
#include <inlay/kernels/common/gemm_grid.h>

namespace inlay::kernels {

// How many slices of type T an fp32 number is written as. bf16: h + m + l, each the rounded rest of the one before,
// exact but for what l rounds. f16: hi + lo / 2^11 of the number times a power of two for its row, which brings the
// largest of a row near 2^15.
template <class T>
inline constexpr int kSlices = std::is_same_v<T, half_t> ? 2 : 3;
template <class T>
inline constexpr bool kScalesRows = std::is_same_v<T, half_t>;

// The slices of an operand in a workspace: matrices one after the other, all of the first slice, then those of the
// second, with a pitch of whole lines. For f16 also a number for each row, by which its sums are multiplied; negative:
// the row refuses f16 slices. They lie behind the slices of a packed operand; in a workspace apart, so that other
// slices can replace these while blocks still read the numbers.
struct SlicedOperand {
  Operand slices;  // (rows,K rounded up to whole lines,matrices * slices)
  float* factors = nullptr;

  template <class T>
  static SlicedOperand at(Operand const& o, char* to, char* factors) {
    SlicedOperand s{o, nullptr};
    s.slices.base = to, s.slices.type = type_of<T>, s.slices.matrices = o.matrices * kSlices<T>;
    s.slices.cols = s.slices.row_stride = round_up(o.cols, 64), s.slices.col_stride = 1;  // zeros behind K
    s.slices.batch_stride = o.rows * s.slices.row_stride;
    if (kScalesRows<T>) s.factors = reinterpret_cast<float*>(factors);
    return s;
  }
  template <class T>
  static SlicedOperand packed(Operand const& o) {
    char* const to = static_cast<char*>(o.packed);
    return at<T>(o, to, to + slice_bytes<T>(o));
  }
  template <class T>
  static int64_t slice_bytes(Operand const& o) {
    return round_up(o.matrices * kSlices<T> * o.rows * round_up(o.cols, 64) * 2, 256);
  }
  template <class T>
  static int64_t factor_bytes(Operand const& o) {
    return kScalesRows<T> ? round_up(o.rows * o.matrices * 4, 256) : 0;
  }
  void relocate(auto const& at) { slices.base = at(slices.base), factors = at(factors); }
};

}  // namespace inlay::kernels
