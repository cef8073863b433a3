// Copy: dst(i) = src(i) for two views of one shape: a transpose, a permutation, a strided or pitched copy.
#pragma once
#include <inlay/tensor.h>

#include <cstdint>
#include <optional>

namespace inlay::problem {
using enum DType;

struct Mode {
  std::int64_t extent;
  std::int64_t src_stride, dst_stride;  // bytes
  friend bool operator==(Mode const&, Mode const&) = default;
};

// A batch of matrices, in the input's coordinates (m, n, l); strides in elements.
// in: (M,N,L):(ld_in,1,batch_in). out: (M,N,L):(1,ld_out,batch_out) for a transpose, (ld_out,1,batch_out) for a copy.
struct Matrices {
  void const* in = nullptr;
  void* out = nullptr;
  std::int64_t M = 1, N = 1, L = 1;
  std::int64_t ld_in = 1, ld_out = 1, batch_in = 0, batch_out = 0;
};

// Canonical form: no extents of 1, modes sorted by destination stride (fastest first), adjacent modes fused where both
// strides allow it. An empty copy has one mode of extent 0.
//
// The element size of a Copy is the largest power of two that divides that of the caller's elements. If the caller's
// elements have another size, such as 3, 6 or 12 bytes, the copy has one more mode, within the caller's element.
struct Copy {
  enum class Kind : std::uint8_t { contiguous, rows, transpose, general };

  static constexpr int kMaxRank = Tensor::kMaxRank + 1;
  int elem_bytes = 0;  // 1, 2, 4, 8 or 16
  int rank = 0;
  Mode mode[kMaxRank]{};
  void const* src = nullptr;
  void* dst = nullptr;
  std::int64_t src_shift = 0, dst_shift = 0;  // bytes from the caller's pointers, if modes were reversed
  Kind kind = Kind::general;
  bool any_alignment = false;  // the pairs of a list begin at different addresses modulo 32
  std::int64_t pairs = 1;      // more than 1: a list of copies with these modes, in one launch

  std::int64_t elements() const {
    std::int64_t n = 1;
    for (int k = 0; k < rank; ++k) n *= mode[k].extent;
    return n;
  }

  // The copy as a batch of matrix transposes or of matrix copies, if it is one. A single row or column is both.
  std::optional<Matrices> const& as_transpose() const { return transpose_; }
  std::optional<Matrices> const& as_copy() const { return copy_; }

  // The same copy with the widest elements, up to 16 bytes, if mode 0 is contiguous on both sides.
  Copy widened() const;
  // The same copy with other addresses.
  Copy between(void const* from, void* to) const;
  // Sets `kind`, as_transpose() and as_copy() from the modes.
  void analyse();

 private:
  std::optional<Matrices> transpose_, copy_;
};
char const* name_of(Copy::Kind kind);

// dst(i) = src(i) for all i. Throws Error for: different shapes or element sizes, a null pointer with elements, a base
// that is no multiple of the largest power of two that divides the element size, a destination that overlaps itself or
// the source, byte offsets beyond 63 bits.
Copy make_copy(Tensor const& dst, ConstTensor const& src);

}  // namespace inlay::problem
