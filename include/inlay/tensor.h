// A Tensor is a view: a pointer, an element type, extents and strides. It owns no memory. A ConstTensor views elements
// that are only read: a Tensor converts to it, but not back, so const data is never a destination.
//
//   Tensor const dst = matrix(out, cols, rows);                           // (cols,rows):(rows,1), out: float*
//   ConstTensor const src = matrix(in, rows, cols);                       // in: float const*
//   Tensor const images = tensor(p, {8, 3, 64, 64}, {12288, 1, 192, 3});  // any rank, any strides
#pragma once
#include <inlay/error.h>
#include <inlay/types.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <type_traits>

namespace inlay {

/// Extents or strides as arguments: in braces, or anything that converts to a span of 64-bit integers. Holds the first
/// kMaxRank values of any number; functions refuse more.
class Modes {
 public:
  static constexpr int kMaxRank = 64;
  Modes() = default;
  Modes(std::initializer_list<std::int64_t> list) : Modes(std::span<std::int64_t const>(list.begin(), list.size())) {}
  template <class Range>
  requires std::is_convertible_v<Range const&, std::span<std::int64_t const>> Modes(Range const& range)
      : Modes(std::span<std::int64_t const>(range)) {}
  Modes(std::span<std::int64_t const> values) : size_(values.size()) {
    for (std::size_t k = 0; k < size_ && k < std::size_t(kMaxRank); ++k) values_[k] = values[k];
  }

  std::size_t size() const { return size_; }
  std::int64_t operator[](std::size_t k) const { return values_[k]; }  ///< k: below size() and kMaxRank

 private:
  std::size_t size_ = 0;
  std::int64_t values_[kMaxRank];  // (mode)
};

/// Element (i0, i1, ...) lies at data + sum(i_k * stride[k]) elements. The last mode is the innermost by convention
/// (row-major). Strides are in elements and may be 0 or negative for a source. Void: void or void const.
template <class Void>
struct BasicTensor {
  static constexpr int kMaxRank = Modes::kMaxRank;
  Void* data = nullptr;
  DType dtype{};
  int rank = 0;
  std::int64_t extent[kMaxRank]{};
  std::int64_t stride[kMaxRank]{};

  std::int64_t size() const {
    std::int64_t n = 1;
    for (int k = 0; k < rank; ++k) n *= extent[k];
    return n;
  }

  /// Whether the elements lie one after the other in memory, the last mode fastest.
  bool is_contiguous() const {
    std::int64_t inner = 1;
    for (int k = rank; k-- > 0; inner *= extent[k])
      if (extent[k] != 1 && stride[k] != inner) return size() == 0;
    return true;
  }
  std::int64_t stride_bytes(int mode) const { return stride[mode] * bytes_of(dtype); }

  /// The same elements with the modes in another order: mode k of the result is mode axes[k] of this.
  /// @throws Error  Unless axes (rank) name each mode once.
  BasicTensor permuted(std::span<int const> axes) const {
    check_rank("permuted");
    if (int(axes.size()) != rank)
      throw Error("permuted: " + std::to_string(axes.size()) + " axes for a tensor of rank " + std::to_string(rank));
    BasicTensor t = *this;
    std::uint64_t seen = 0;
    int k = 0;
    for (int a : axes) {
      if (!(a >= 0 && a < rank)) throw Error("permuted: there is no mode " + std::to_string(a) + of_rank());
      if (seen >> a & 1) throw Error("permuted: the mode " + std::to_string(a) + " is named twice");
      seen |= std::uint64_t(1) << a;
      t.extent[k] = extent[a];
      t.stride[k++] = stride[a];
    }
    return t;
  }
  BasicTensor permuted(std::initializer_list<int> axes) const {
    return permuted(std::span<int const>(axes.begin(), axes.size()));
  }
  /// The same elements with the last two modes exchanged. @throws Error for fewer than two modes.
  BasicTensor transposed() const {
    check_rank("transposed");
    detail::require(rank >= 2, "transposed: the tensor has fewer than two modes");
    return transposed(rank - 2, rank - 1);
  }
  /// The same elements with modes i and j exchanged. @throws Error for modes that the tensor does not have.
  BasicTensor transposed(int i, int j) const {
    check_rank("transposed");
    for (int k : {i, j})
      if (!(k >= 0 && k < rank)) throw Error("transposed: there is no mode " + std::to_string(k) + of_rank());
    BasicTensor t = *this;
    t.extent[i] = extent[j], t.extent[j] = extent[i];
    t.stride[i] = stride[j], t.stride[j] = stride[i];
    return t;
  }
  /// The elements [first, first + count) of one mode. @throws Error for elements outside.
  BasicTensor slice(int axis, std::int64_t first, std::int64_t count) const {
    check_rank("slice");
    if (!(axis >= 0 && axis < rank)) throw Error("slice: there is no mode " + std::to_string(axis) + of_rank());
    if (!(first >= 0 && count >= 0 && first <= extent[axis] && count <= extent[axis] - first))
      throw Error("slice: " + std::to_string(count) + " elements from " + std::to_string(first) +
                  " on leave the extent of " + std::to_string(extent[axis]));
    BasicTensor t = *this;
    using Byte = std::conditional_t<std::is_const_v<Void>, char const, char>;
    if (count) t.data = static_cast<Byte*>(data) + first * stride[axis] * bytes_of(dtype);
    t.extent[axis] = count;
    return t;
  }

  /// The same elements, repeated: modes of extent 1 get the new extents, with stride 0; additional modes come first. A
  /// source only: as a destination the view would overlap itself. @throws Error for extents that differ and are not 1.
  BasicTensor broadcast(Modes extents) const {
    check_rank("broadcast");
    int const more = int(extents.size()) - rank;
    if (more < 0 || extents.size() > std::size_t(kMaxRank))
      throw Error("broadcast: " + std::to_string(extents.size()) + " extents for a tensor of rank " +
                  std::to_string(rank));
    BasicTensor t = *this;
    t.rank = int(extents.size());
    for (int k = 0; k < t.rank; ++k) {
      bool const same = k >= more && extent[k - more] == extents[std::size_t(k)];
      if (!same && k >= more && extent[k - more] != 1)
        throw Error("broadcast: an extent of " + std::to_string(extent[k - more]) + " cannot become " +
                    std::to_string(extents[std::size_t(k)]));
      t.extent[k] = extents[std::size_t(k)], t.stride[k] = same ? stride[k - more] : 0;
    }
    return t;
  }
  /// The same elements in the same order (last mode fastest) with other extents. @throws Error if strides do not allow
  /// it.
  BasicTensor reshape(Modes extents) const;

  /// Converts a Tensor to a ConstTensor.
  template <class ToVoid>
  requires(std::is_same_v<ToVoid, Void const> && !std::is_const_v<Void>) operator BasicTensor<ToVoid>() const {
    BasicTensor<ToVoid> t{data, dtype, rank, {}, {}};
    for (int k = 0; k < rank && k < kMaxRank; ++k) t.extent[k] = extent[k], t.stride[k] = stride[k];
    return t;
  }

 private:
  void check_rank(char const* what) const {
    if (!(rank >= 0 && rank <= kMaxRank))
      throw Error(std::string(what) + ": the tensor has rank " + std::to_string(rank) +
                  ", which is not between 0 and 64");
  }
  std::string of_rank() const { return " in a tensor of rank " + std::to_string(rank); }
};

template <class Void>
BasicTensor<Void> BasicTensor<Void>::reshape(Modes extents) const {
  check_rank("reshape");
  if (extents.size() > std::size_t(kMaxRank))
    throw Error("reshape: a tensor has at most 64 modes, not " + std::to_string(extents.size()));
  std::int64_t n = 1;
  for (std::size_t k = 0; k < extents.size(); ++k)
    if (extents[k] < 0 || __builtin_mul_overflow(n, extents[k], &n))
      throw Error("reshape: an extent is negative, or the number of elements exceeds 63 bits");
  if (n != size())
    throw Error("reshape: " + std::to_string(size()) + " elements do not become " + std::to_string(n) + " in " +
                std::to_string(extents.size()) + " modes");
  BasicTensor t = *this;
  t.rank = int(extents.size());
  for (int k = 0; k < t.rank; ++k) t.extent[k] = extents[std::size_t(k)], t.stride[k] = 0;
  if (n == 0) return t;
  // From the last mode on: a group of old modes with evenly spaced elements is divided among new modes.
  int to = t.rank;
  for (int from = rank; from > 0;) {
    if (extent[--from] == 1) continue;
    std::int64_t const inner = stride[from];
    std::int64_t all = extent[from];
    while (from > 0 && (extent[from - 1] == 1 || stride[from - 1] == inner * all)) all *= extent[--from];
    std::int64_t step = inner, left = all;
    while (to > 0 && left > 1) {
      std::int64_t const e = t.extent[--to];
      if (left % e)
        throw Error("reshape: the strides do not allow an extent of " + std::to_string(e) + " where " +
                    std::to_string(left) + " elements lie evenly apart");
      t.stride[to] = step, step *= e, left /= e;
    }
  }
  return t;
}
using Tensor = BasicTensor<void>;
using ConstTensor = BasicTensor<void const>;
/// The tensor type for a pointer to T: Tensor, or ConstTensor if T is const.
template <class T>
using TensorOf = BasicTensor<std::conditional_t<std::is_const_v<T>, void const, void>>;

/// A view of memory; data may be null.
///
/// @param extents  (rank), of rank 0 to 64.
/// @param strides  (rank), in elements. Without them the view is row-major without gaps.
/// @throws Error   For other ranks, another number of strides, and row-major strides beyond 63 bits.
template <class T>
requires std::is_void_v<T> TensorOf<T> tensor(T* data, DType dtype, Modes extents, Modes strides) {
  TensorOf<T> t{data, dtype, int(extents.size()), {}, {}};
  if (extents.size() > std::size_t(t.kMaxRank))
    throw Error("a tensor has at most 64 modes, not " + std::to_string(extents.size()));
  if (strides.size() != extents.size())
    throw Error("the tensor has " + std::to_string(extents.size()) + " extents and " + std::to_string(strides.size()) +
                " strides");
  for (std::size_t k = 0; k < extents.size(); ++k) t.extent[k] = extents[k], t.stride[k] = strides[k];
  return t;
}
template <class T>
requires std::is_void_v<T> TensorOf<T> tensor(T* data, DType dtype, Modes extents) {
  std::int64_t strides[Tensor::kMaxRank], inner = 1;
  std::size_t const rank = extents.size() < std::size_t(Tensor::kMaxRank) ? extents.size() : Tensor::kMaxRank;
  for (std::size_t k = rank; k-- > 0;) {
    strides[k] = inner;
    if (k > 0 && __builtin_mul_overflow(inner, extents[k] > 1 ? extents[k] : 1, &inner))
      throw Error("the strides of a row-major tensor exceed 63 bits at its mode " + std::to_string(k) + ", of extent " +
                  std::to_string(extents[k]));
  }
  return tensor(data, dtype, extents, std::span<std::int64_t const>(strides, rank));
}
template <class T>
requires(!std::is_void_v<T>) TensorOf<T> tensor(T* data, Modes extents, Modes strides) {
  using Void = std::conditional_t<std::is_const_v<T>, void const, void>;
  return tensor(static_cast<Void*>(data), dtype_of<std::remove_const_t<T>>(), extents, strides);
}
template <class T>
requires(!std::is_void_v<T>) TensorOf<T> tensor(T* data, Modes extents) {
  using Void = std::conditional_t<std::is_const_v<T>, void const, void>;
  return tensor(static_cast<Void*>(data), dtype_of<std::remove_const_t<T>>(), extents);
}

/// A row-major matrix (rows, cols):(pitch, 1); the pitch is in elements and defaults to cols. With a negative pitch,
/// row i begins before row i - 1.
inline Tensor matrix(void* data, DType dtype, std::int64_t rows, std::int64_t cols, std::int64_t pitch) {
  return tensor(data, dtype, {rows, cols}, {pitch, 1});
}
inline Tensor matrix(void* data, DType dtype, std::int64_t rows, std::int64_t cols) {
  return matrix(data, dtype, rows, cols, cols);
}
inline ConstTensor matrix(void const* data, DType dtype, std::int64_t rows, std::int64_t cols, std::int64_t pitch) {
  return tensor(data, dtype, {rows, cols}, {pitch, 1});
}
inline ConstTensor matrix(void const* data, DType dtype, std::int64_t rows, std::int64_t cols) {
  return matrix(data, dtype, rows, cols, cols);
}
template <class T>
TensorOf<T> matrix(T* data, std::int64_t rows, std::int64_t cols, std::int64_t pitch) {
  return tensor(data, {rows, cols}, {pitch, 1});
}
template <class T>
TensorOf<T> matrix(T* data, std::int64_t rows, std::int64_t cols) {
  return matrix(data, rows, cols, cols);
}

}  // namespace inlay
