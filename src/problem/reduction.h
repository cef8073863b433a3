// Reduction: adds the partial sums of a split-K GEMM and writes D.
#pragma once
#include <inlay/problem/gemm.h>

namespace inlay::problem {

// Groups of consecutive slices that are summed apart, for a matrix with this many elements: several if there are
// hundreds of slices, or at least 16 slices and few elements, where one thread for each element would have too little
// work in flight.
constexpr int groups_of_slices(int slices, std::int64_t elements) {
  return slices >= 256 ? 32 : slices >= 16 && elements <= 65536 ? 8 : 1;
}

// D(m,n,l) = activation(alpha * sum over s of partial(m,n,l,s) + beta * C(m,n,l)), where C is D unless it has a base;
// summed in the order of the slices s, each group of groups_of_slices() in a sum of its own. Made by add_slices(), so
// that the partial sums are read where the GEMM wrote them.
struct Reduction {
  Operand D;  // (M,N,L)
  Epilogue epilogue;
  Operand partial =
      {};          // (M,N,L) of the first slice, f32; each further slice lies elements() elements behind the one before
  int slices = 0;  // 0: the sum is what D holds, which is f32, and there are no partial sums
  Operand C = {};  // (M,N,L)

  constexpr Operand const& addend() const { return C.base ? C : D; }  // what beta scales

  constexpr std::int64_t elements() const { return D.rows * D.cols * D.matrices; }  // of D
};

// The reduction that completes `whole` from the partial sums in D of `split`, which Info::split made of it. Modes are
// exchanged if that makes the partial sums contiguous along n, the mode of consecutive threads.
constexpr Reduction add_slices(Gemm const& whole, Gemm const& split) {
  Reduction r{whole.D, whole.epilogue, split.D, split.slices, whole.C};
  if (r.partial.col_stride != 1)
    for (Operand* o : {&r.D, &r.partial, &r.C}) *o = transposed(*o);
  return r;
}

}  // namespace inlay::problem
