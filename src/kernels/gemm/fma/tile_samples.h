// Samples of SgemmVectors: a block loops over all of K, in steps of 32 or of a block sum.
#pragma once
#include <inlay/kernels/common/gemm_grid_samples.h>
#include <inlay/kernels/gemm/fma/tile.h>

namespace inlay::kernels {

template <template <Vectors A, Vectors B> class Step>
struct Samples<SgemmVectors<Step>> {
  template <class S, class Sample>
  static void of(Gemm const& g, S const& setting, Sample const& sample) {
    sample_lengths<SgemmVectors<Step>>(g, SgemmVectors<Step>::period(g), setting, sample);
  }
};

}  // namespace inlay::kernels
