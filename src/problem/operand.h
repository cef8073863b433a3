// An operand of a GEMM: a batch of matrices of one type, with arbitrary strides.
#pragma once
#include <inlay/types.h>

#include <algorithm>
#include <cstdint>
#include <utility>

namespace inlay::problem {
using enum DType;

// The 16-bit types of floating-point numbers.
constexpr bool is_half(DType type) { return type == bf16 || type == f16; }

// Element (i, j) of matrix l lies at base + i * row_stride + j * col_stride + l * batch_stride elements.
struct Operand {
  void* base = nullptr;
  DType type = f32;
  std::int64_t rows = 0, cols = 0,
               matrices = 0;  // matrices: 1 with batch stride 0 if the whole batch shares one matrix
  std::int64_t row_stride = 0, col_stride = 0, batch_stride = 0;
  void* packed = nullptr;  // one matrix, packed before by pack_b() for the compute mode of the GEMM; null: it is not

  template <class T>
  constexpr T* as() const {
    return static_cast<T*>(base);
  }
  // Misalignment of the base address, in bytes modulo 16.
  std::int64_t misalignment_bytes() const { return std::int64_t(reinterpret_cast<std::uint64_t>(base) % 16); }
  friend bool operator==(Operand const&, Operand const&) = default;
};

// The operand with its two modes exchanged.
constexpr Operand transposed(Operand o) {
  std::swap(o.rows, o.cols), std::swap(o.row_stride, o.col_stride);
  return o;
}

// Bytes of all elements or of the range from the first to the last, whichever are fewer: the range is where elements
// overlap.
inline __int128 data_bytes(Operand const& o) {
  __int128 elements = 1, span = 1;
  for (auto const& [extent, stride] :
       {std::pair{o.rows, o.row_stride}, {o.cols, o.col_stride}, {o.matrices, o.batch_stride}}) {
    if (extent == 0) return 0;
    elements *= extent, span += __int128(extent - 1) * (stride < 0 ? -__int128(stride) : __int128(stride));
  }
  return std::min(elements, span) * bytes_of(o.type);
}

// Along which mode the 16-byte vectors of an f32 operand lie, all of them aligned: none, rows (m or n), or k.
enum class Vectors { none, rows, k };
inline Vectors vectors(Operand const& o, std::int64_t matrices) {
  auto const whole = [](std::int64_t extent, std::int64_t step) { return extent <= 1 || step % 4 == 0; };
  if (o.misalignment_bytes() || !whole(matrices, o.batch_stride)) return Vectors::none;
  if (o.row_stride == 1 && o.rows % 4 == 0 && whole(o.cols, o.col_stride)) return Vectors::rows;
  if (o.col_stride == 1 && o.cols % 4 == 0 && whole(o.rows, o.row_stride)) return Vectors::k;
  return Vectors::none;
}

}  // namespace inlay::problem
