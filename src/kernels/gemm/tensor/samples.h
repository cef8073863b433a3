// Samples of the tensor-core GEMMs: one tile stands for all tiles with the same memory accesses.
#pragma once
#include <inlay/kernels/common/gemm_grid_samples.h>
#include <inlay/kernels/gemm/fma/split_samples.h>
#include <inlay/kernels/gemm/tensor/mma.h>

namespace inlay::kernels {

// Declared only, to save compilation: a unit that replays some of these kernels includes their headers after this one,
// and a change of the other kernels' headers does not compile the unit again.
template <class Step, class T, GMMA::Major MajorA, GMMA::Major MajorB>
struct WgmmaRing;
template <class Step, class T, GMMA::Major MajorA, GMMA::Major MajorB>
struct WgmmaCluster;
template <class Step, class T, int WARPS, bool A_along_K, bool B_along_K>
struct SmallTile;
template <class Step, class T, int BLK_N, int CLUSTER>
struct SplitRing;
template <class Step, bool A_along_K, bool B_along_K>
struct SplitUnpacked;
template <class Step, class T>
struct SliceOperands;

template <class Step, class T, GMMA::Major MajorA, GMMA::Major MajorB>
struct Kinds<WgmmaRing<Step, T, MajorA, MajorB>> {
  template <class F>
  static void each(auto const& kernel, F const& f) {
    auto one_tile = kernel;  // of a block, or of a cluster
    int const blocks = kernel.cluster_blocks();
    one_tile.grid = one_tile.tiles(), one_tile.band = one_tile.tiles_n;
    for (int slice = 0; slice < kernel.g.slices; ++slice)
      over_clipped_tile_kinds(kernel.g, kernel.BLK_M * kernel.along_m(), kernel.tile_columns() * kernel.along_n(),
                              [&](int64_t m, int64_t n, int64_t l, int64_t times) {
                                int64_t const matrix = slice * kernel.g.L() + l;
                                f(one_tile, ((matrix * kernel.tiles_m + m) * kernel.tiles_n + n) * blocks, times);
                              });
  }
};

template <class Step, class T, GMMA::Major MajorA, GMMA::Major MajorB>
struct Kinds<WgmmaCluster<Step, T, MajorA, MajorB>> {
  template <class F>
  static void each(auto const& kernel, F const& f) {
    over_clipped_tile_kinds(kernel.g, kernel.BLK_M, kernel.columns,
                            [&](int64_t m, int64_t n, int64_t l, int64_t times) {
                              f(kernel, ((l * kernel.tiles_n + n) * kernel.tiles_m + m) * kernel.parts, times);
                            });
  }
};

// A block of a sample multiplies one tile.
template <class Step, class T, int WARPS, bool A_along_K, bool B_along_K>
struct Kinds<SmallTile<Step, T, WARPS, A_along_K, B_along_K>> {
  template <class F>
  static void each(auto const& kernel, F const& f) {
    auto one_tile = kernel;
    one_tile.in_block = 1;
    int const tiles_m = int(kernel.tiles_m.by), tiles_n = int(kernel.tiles_n.by);
    over_tile_kinds(kernel.g, tiles_m, tiles_n, [&](int64_t m, int64_t n, int64_t l, int64_t times) {
      f(one_tile, (l * tiles_m + m) * tiles_n + n, times);
    });
  }
};

// Samples of a kernel whose clusters, of `blocks` blocks each, compute several tiles in turn, ordered in bands
// (tile_bands.h). In a sample each cluster computes one tile, of `rows` rows; `tiles` is their number.
template <class Kernel, class F>
void over_band_tiles(Kernel one_tile, int tiles, int rows, int blocks, auto const& order, F const& f) {
  one_tile.grid = tiles;
  over_clipped_tile_kinds(one_tile.g, rows, Kernel::BLK_N, [&](int64_t m, int64_t n, int64_t l, int64_t times) {
    f(one_tile, order.tile(m, n, l) * blocks, times);
  });
}
template <class Step, class T, int BLK_N, int CLUSTER>
struct Kinds<SplitRing<Step, T, BLK_N, CLUSTER>> {
  template <class Kernel, class F>
  static void each(Kernel kernel, F const& f) {
    // A block looks for refusals once, however many tiles it computes: samples, which are of one tile, leave that out.
    if (kernel.looks_for_refusals()) kernel.refusals = nullptr;
    over_band_tiles(kernel, kernel.tiles(), kernel.BLK_M * kernel.CLUSTER, kernel.in_cluster(), kernel.order, f);
  }
};
template <class Step, bool A_along_K, bool B_along_K>
struct Kinds<SplitUnpacked<Step, A_along_K, B_along_K>> {
  template <class Kernel, class F>
  static void each(Kernel const& kernel, F const& f) {
    over_band_tiles(kernel, kernel.tiles, kernel.BLK_M, kernel.parts, kernel.order(), f);
  }
};
// All clusters of small operands, or a few of large ones: they are alike but for the ends of an operand.
template <class Step, class T>
struct Kinds<SliceOperands<Step, T>> {
  template <class Kernel, class F>
  static void each(Kernel const& kernel, F const& f) {
    int64_t const blocks = kernel.in_cluster, all = kernel.blocks() / blocks,
                  n = kernel.blocks() < 256 ? all : std::max<int64_t>(8 / blocks, 2);
    for (int64_t i = 0; i < n; ++i) f(kernel, i * all / n * blocks, (i + 1) * all / n - i * all / n);
  }
};

// A few short K replace a long one in the ring, whose tiles are those of the long one. Samples have no data, which no
// slices refuse.
template <class Dispatch>
requires Dispatch::slices_operands struct Samples<Dispatch> {
  template <class S, class Sample>
  static void of(Gemm const& g, S const& setting, Sample const& sample) {
    launches<Dispatch>(g, setting, [&](auto const& kernel) {
      if constexpr (requires { kernel.mapA; })
        over_lengths(g.K(), 64 * kernel.parts(), [&](int64_t K, int64_t times) {
          auto part = kernel;
          part.g = kernel.g.with_K(K);
          sample.kinds(part, times);
        });
      else
        sample.kinds(kernel, 1);
    });
  }
};

// Counts of a long K follow from those of two short ones, because they are linear in the steps of 64 indices. A short K
// has as many slices as the long one: each slice of K loses the same number of steps. In the shorter K the last slice
// keeps more than two steps and at most three; in the other one every slice has one step more.
template <class Dispatch>
requires Dispatch::adds_slices struct Samples<Dispatch> {
  template <class S, class Sample>
  static void of(Gemm const& g, S const& setting, Sample const& sample) {
    constexpr int64_t step = Dispatch::period;
    int64_t const slice_K = g.slice_K ? g.slice_K : g.K(), parts = ceil_div(g.K(), slice_K),
                  last = g.K() - (parts - 1) * slice_K, lost = (last - 1) / step - 2;  // of a slice, in steps
    auto const without = [&](int64_t steps, int64_t times) {
      Gemm part = g.with_K(g.K() - parts * steps * step);
      if (g.slice_K) part.slice_K = slice_K - steps * step;
      launches<Dispatch>(part, setting, [&](auto const& kernel) { sample.kinds(kernel, times); });
    };
    if (lost < 2) return without(0, 1);
    without(lost, 1 - lost), without(lost - 1, lost);
  }
};

}  // namespace inlay::kernels
