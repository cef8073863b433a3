// Samples of packed batches: blocks with whole groups of matrices do the same work if they begin at the same offsets
// within a sector (transpose_batched_samples.h).
#pragma once
#include <inlay/kernels/common/gemm_grid_samples.h>
#include <inlay/kernels/copy/transpose_batched_samples.h>

namespace inlay::kernels {

template <class Step, class Micro>
struct SgemmPacked;

template <class Step, class Micro>
struct Samples<SgemmPacked<Step, Micro>> {
  template <class S, class Sample>
  static void of(Gemm const& g, S const& setting, Sample const& sample) {
    launches<SgemmPacked<Step, Micro>>(g, setting, [&](auto const& kernel) { sample.kinds(kernel, 1); });
  }
};

}  // namespace inlay::kernels
