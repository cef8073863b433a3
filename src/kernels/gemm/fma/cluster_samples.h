// Samples of SgemmCluster: one cluster of each kind of tile.
#pragma once
#include <inlay/kernels/common/gemm_grid_samples.h>
#include <inlay/kernels/gemm/fma/cluster.h>

namespace inlay::kernels {

template <class Step>
struct Kinds<SgemmCluster<Step>> {
  template <class F>
  static void each(SgemmCluster<Step> const& kernel, F const& f) {
    over_tile_kinds(kernel.g, kernel.tiles_m, kernel.tiles_n, [&](int64_t m, int64_t n, int64_t l, int64_t times) {
      f(kernel, ((l * kernel.tiles_m + m) * kernel.tiles_n + n) * kernel.slices, times);
    });
  }
};

template <class Step>
struct Samples<SgemmCluster<Step>> {
  template <class S, class Sample>
  static void of(Gemm const& g, S const& setting, Sample const& sample) {
    using Cluster = SgemmCluster<Step>;
    int const slices = Cluster::slices_of(g, setting.device);
    over_lengths(g.K(), int64_t(slices) * Cluster::BLK_K, [&](int64_t K, int64_t times) {
      Cluster kernel = Cluster::make(g.with_K(K), setting);
      kernel.slices = slices;  // of the full K
      sample.kinds(kernel, times);
    });
  }
};

}  // namespace inlay::kernels
