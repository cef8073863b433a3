// An operand of a GEMM: matrices of one type, with whatever strides.
#pragma once
#include <inlay/types.h>

#include <cstdint>

namespace inlay::problem {

// Element (i, j) of matrix l lies at base + i * row_stride + j * col_stride + l * batch_stride elements.
struct Operand {
  void* base = nullptr;
  DType type = f32;
  std::int64_t rows = 0, cols = 0, matrices = 0;  // a matrix that a batch shares is one, with a batch stride of 0
  std::int64_t row_stride = 0, col_stride = 0, batch_stride = 0;

  template <class T>
  constexpr T* as() const {
    return static_cast<T*>(base);
  }
  // Bytes past a multiple of 16.
  std::int64_t past_vector() const { return std::int64_t(reinterpret_cast<std::uint64_t>(base) % 16); }
};

}  // namespace inlay::problem
