// Reduction: the partial sums of a split-K GEMM, added and written to C.
#pragma once
#include <inlay/problem/operand.h>

namespace inlay::problem {

// C(m,n,l) = alpha * sum over p of partial(m,n,l,p) + beta * C(m,n,l), in the order of p. The partial sums lie matrix
// after matrix and part after part, rows without a gap.
struct Reduction {
  Operand C;  // (M,N,L)
  Epilogue epilogue;
  float const* partial = nullptr;
  int slices = 0;

  constexpr std::int64_t elements() const { return C.rows * C.cols * C.matrices; }  // of C
};

}  // namespace inlay::problem
