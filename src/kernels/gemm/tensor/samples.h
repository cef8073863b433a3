// Samples of the tensor-core GEMMs: one tile stands for all tiles with the same memory accesses.
#pragma once
#include <inlay/kernels/common/gemm_grid_samples.h>
#include <inlay/kernels/gemm/tensor/wgmma_ring.h>

namespace inlay::kernels {

template <class Step, class T, Major MajorA, Major MajorB>
struct Kinds<WgmmaRing<Step, T, MajorA, MajorB>> {
  template <class F>
  static void each(WgmmaRing<Step, T, MajorA, MajorB> const& kernel, F const& f) {
    auto one_tile = kernel;  // of a block, or of a cluster
    int const blocks = kernel.cluster_blocks();
    one_tile.grid = one_tile.tiles(), one_tile.band = one_tile.tiles_n;
    for (int slice = 0; slice < kernel.g.slices; ++slice)
      over_clipped_tile_kinds(kernel.g, kernel.BLK_M * kernel.along_m(), kernel.BLK_N * kernel.along_n(),
                              [&](int64_t m, int64_t n, int64_t l, int64_t times) {
                                int64_t const matrix = slice * kernel.g.L() + l;
                                f(one_tile, ((matrix * kernel.tiles_m + m) * kernel.tiles_n + n) * blocks, times);
                              });
  }
};

}  // namespace inlay::kernels
