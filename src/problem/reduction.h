// Reduction: adds the partial sums of a split-K GEMM and writes D.
#pragma once
#include <inlay/problem/operand.h>

namespace inlay::problem {

// D(m,n,l) = alpha * sum over s of partial(m,n,l,s) + beta * D(m,n,l), summed in the order of the slices s. The partial
// sums are contiguous along n, then along m, l and s.
struct Reduction {
  Operand D;  // (M,N,L)
  Epilogue epilogue;
  float const* partial = nullptr;
  int slices = 0;

  constexpr std::int64_t elements() const { return D.rows * D.cols * D.matrices; }  // of D
};

}  // namespace inlay::problem
