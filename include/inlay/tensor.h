// A Tensor is a view: a pointer, an element type, extents, strides. It owns nothing and is copied freely.
#pragma once
#include <inlay/error.h>
#include <inlay/types.h>

#include <cstdint>
#include <initializer_list>
#include <type_traits>

namespace inlay {

// Element (i0, i1, ...) lies at data + sum(i_k * stride[k]) elements. The last mode is the innermost by convention
// (row-major). Strides are in elements and may be 0 or negative for a source.
struct Tensor {
  static constexpr int kMaxRank = 64;
  void* data = nullptr;
  DType dtype{};
  int rank = 0;
  std::int64_t extent[kMaxRank]{};
  std::int64_t stride[kMaxRank]{};

  std::int64_t size() const {
    std::int64_t n = 1;
    for (int k = 0; k < rank; ++k) n *= extent[k];
    return n;
  }

  // The same elements with the modes in another order: mode k of the result is mode axes[k] of this.
  Tensor permuted(std::initializer_list<int> axes) const {
    require(int(axes.size()) == rank, "permuted: the number of axes differs from the rank of the tensor");
    Tensor t = *this;
    std::uint64_t seen = 0;
    int k = 0;
    for (int a : axes) {
      require(a >= 0 && a < rank && !(seen >> a & 1), "permuted: the axes are no permutation of 0 .. rank-1");
      seen |= std::uint64_t(1) << a;
      t.extent[k] = extent[a];
      t.stride[k++] = stride[a];
    }
    return t;
  }
  // The same elements with the last two modes exchanged: a view, nothing moves.
  Tensor transposed() const {
    require(rank >= 2, "transposed: the tensor has fewer than two modes");
    Tensor t = *this;
    t.extent[rank - 2] = extent[rank - 1], t.extent[rank - 1] = extent[rank - 2];
    t.stride[rank - 2] = stride[rank - 1], t.stride[rank - 1] = stride[rank - 2];
    return t;
  }
  // The elements [first, first + count) of one mode.
  Tensor slice(int axis, std::int64_t first, std::int64_t count) const {
    require(axis >= 0 && axis < rank, "slice: there is no such mode");
    require(first >= 0 && count >= 0 && count <= extent[axis] - first, "slice: the range leaves the tensor");
    Tensor t = *this;
    t.data = static_cast<char*>(data) + first * stride[axis] * bytes_of(dtype);
    t.extent[axis] = count;
    return t;
  }
};

// A row-major matrix (rows, cols):(pitch, 1); the pitch is in elements and defaults to cols. A negative pitch walks the
// rows backwards from `data`.
inline Tensor matrix(void* data, DType dtype, std::int64_t rows, std::int64_t cols, std::int64_t pitch) {
  Tensor t;
  t.data = data, t.dtype = dtype, t.rank = 2;
  t.extent[0] = rows, t.extent[1] = cols;
  t.stride[0] = pitch, t.stride[1] = 1;
  return t;
}
inline Tensor matrix(void* data, DType dtype, std::int64_t rows, std::int64_t cols) {
  return matrix(data, dtype, rows, cols, cols);
}
template <class T>
Tensor matrix(T* data, std::int64_t rows, std::int64_t cols, std::int64_t pitch) {
  return matrix(const_cast<std::remove_const_t<T>*>(data), dtype_of<std::remove_const_t<T>>(), rows, cols, pitch);
}
template <class T>
Tensor matrix(T* data, std::int64_t rows, std::int64_t cols) {
  return matrix(data, rows, cols, cols);
}

}  // namespace inlay
