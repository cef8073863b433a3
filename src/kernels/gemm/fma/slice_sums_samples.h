// All blocks of slice_sums.h but the last are alike, unless D has gaps: then any two may differ.
#pragma once
#include <inlay/kernels/common/sampling.h>
#include <inlay/kernels/gemm/fma/slice_sums.h>

namespace inlay::kernels {

template <int GROUPS, class T>
struct Kinds<SumSlicesBy<GROUPS, T>> {
  template <class F>
  static void each(SumSlicesBy<GROUPS, T> const& kernel, F const& f) {
    auto const is_dense = [](Operand const& c) {
      return c.col_stride == 1 && c.row_stride == c.cols && (c.matrices == 1 || c.batch_stride == c.rows * c.cols);
    };
    if (is_dense(kernel.r.D) && is_dense(kernel.r.addend()))
      return over_edge(kernel.blocks(), [&](int64_t block, int64_t times) { f(kernel, block, times); });
    for (int64_t block = 0; block < kernel.blocks(); ++block) f(kernel, block, 1);
  }
};

}  // namespace inlay::kernels
