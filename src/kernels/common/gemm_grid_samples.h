// Samples of GEMM kernels: one block stands for all blocks with the same memory accesses.
#pragma once
#include <inlay/kernels/common/gemm_grid.h>
#include <inlay/kernels/common/sampling.h>

namespace inlay::kernels {

// Calls f(l, times) for matrices l of the batch; `times` matrices begin at its byte offset modulo a sector.
template <class F>
void over_matrices(Gemm const& g, F const& f) {
  int64_t bytes = 0;
  for (Operand const* o : {&g.A, &g.B, &g.D, &g.C}) bytes = std::gcd(bytes, o->batch_stride * bytes_of(o->type));
  over_phases(g.L(), bytes, bytes, f);
}
// Calls f(m, n, l, times) for tiles of D; `times` tiles are clipped like tile (m, n, l), and their matrices begin at
// the same byte offset modulo a sector.
template <class F>
void over_tile_kinds(Gemm const& g, int64_t tiles_m, int64_t tiles_n, F const& f) {
  over_matrices(g, [&](int64_t l, int64_t nl) {
    over_edge(tiles_m, [&](int64_t m, int64_t nm) {
      over_edge(tiles_n, [&](int64_t n, int64_t nn) { f(m, n, l, nl * nm * nn); });
    });
  });
}
// The same for tiles of BLK_M x BLK_N; where they divide M or N, no tile is clipped there, and one stands for all.
template <class F>
void over_clipped_tile_kinds(Gemm const& g, int64_t BLK_M, int64_t BLK_N, F const& f) {
  int64_t const tiles_m = ceil_div(g.M(), BLK_M), tiles_n = ceil_div(g.N(), BLK_N);
  int64_t const kinds_m = g.M() % BLK_M ? tiles_m : 1, kinds_n = g.N() % BLK_N ? tiles_n : 1;
  over_tile_kinds(g, kinds_m, kinds_n, [&](int64_t m, int64_t n, int64_t l, int64_t times) {
    f(m, n, l, times * (tiles_m / kinds_m) * (tiles_n / kinds_n));
  });
}

template <int BLK_M, int BLK_N, class T, Epilogues epilogues>
GemmGrid<BLK_M, BLK_N, T, epilogues> grid_of(GemmGrid<BLK_M, BLK_N, T, epilogues> const&);

// For kernels whose tiles begin whole sectors apart and that do not split K.
template <class K>
requires requires(K const& kernel) {
  grid_of(kernel);
  kernel.slice_k;
}
struct Kinds<K> {
  template <class F>
  static void each(K const& kernel, F const& f) {
    over_tile_kinds(kernel.g, kernel.tiles_m, kernel.tiles_n, [&](int64_t m, int64_t n, int64_t l, int64_t times) {
      f(kernel, (l * kernel.tiles_m + m) * kernel.tiles_n + n, times);
    });
  }
};

template <class Choice>
struct Samples<OneOf<Choice>> {
  template <class S, class Sample>
  static void of(Gemm const& g, S const& setting, Sample const& sample) {
    Choice::with(g, setting.device, setting.config,
                 [&]<class V>(std::type_identity<V>) { Samples<V>::of(g, setting, sample); });
  }
};

}  // namespace inlay::kernels
