// Samples of thin GEMMs: clusters differ in where the rows of their tile and their matrix begin, which a few of them
// show.
#pragma once
#include <inlay/kernels/common/gemm_grid_samples.h>
#include <inlay/kernels/gemm/fma/thin.h>

namespace inlay::kernels {

template <class K>
requires std::derived_from<K, Thin>
struct Kinds<K> {
  template <class F>
  static void each(K const& kernel, F const& f) {
    int64_t const clusters = kernel.blocks() / kernel.grid.parts, n = clusters <= 64 ? clusters : 8;
    for (int64_t i = 0; i < n; ++i) {
      int64_t const first = i * clusters / n, last = (i + 1) * clusters / n;
      f(kernel, first * kernel.grid.parts, last - first);
    }
  }
};

}  // namespace inlay::kernels
