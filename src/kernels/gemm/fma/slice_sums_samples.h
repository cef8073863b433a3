// All blocks of slice_sums.h but the last are alike, unless D has gaps: then any two may differ.
#pragma once
#include <inlay/kernels/common/sampling.h>
#include <inlay/kernels/gemm/fma/slice_sums.h>

namespace inlay::kernels {

template <int GROUPS>
struct Kinds<SumSlicesBy<GROUPS>> {
  template <class F>
  static void each(SumSlicesBy<GROUPS> const& kernel, F const& f) {
    Operand const& c = kernel.r.D;
    bool const dense =
        c.col_stride == 1 && c.row_stride == c.cols && (c.matrices == 1 || c.batch_stride == c.rows * c.cols);
    if (dense) return over_edge(kernel.blocks(), [&](int64_t block, int64_t times) { f(kernel, block, times); });
    for (int64_t block = 0; block < kernel.blocks(); ++block) f(kernel, block, 1);
  }
};

}  // namespace inlay::kernels
