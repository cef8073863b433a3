// Blocks of the rows' kernel: all of them where they are few, else so many evenly apart, each for those after it. That is an
// average, not a count.
#pragma once
#include <inlay/kernels/move/direct_rows.h>
#include <inlay/kernels/parts/tile_grid_samples.h>

namespace inlay::kernels {

template <class T, class Step>
struct Kinds<DirectRows<T, Step>> {
  static constexpr int64_t kMost = 1024;
  template <class F>
  static void each(DirectRows<T, Step> const& kernel, F f) {
    int64_t const all = kernel.blocks(), n = all < kMost ? all : kMost / 16;
    for (int64_t i = 0; i < n; ++i) {
      int64_t const first = i * all / n, last = (i + 1) * all / n;
      f(kernel, first, last - first);
    }
  }
};

}  // namespace inlay::kernels
