// Samples of tile kernels: blocks make the same accesses if their tiles are clipped alike and begin at the same byte
// offset modulo a sector.
#pragma once
#include <inlay/kernels/common/sampling.h>
#include <inlay/kernels/copy/tile_grid.h>

namespace inlay::kernels {

template <class T, class Tile, Writes writes>
TileGrid<T, Tile, writes> grid_of(TileGrid<T, Tile, writes> const&);

template <class K>
requires requires(K const& kernel) { grid_of(kernel); }
struct Kinds<K> {
  template <class F>
  static void each(K const& kernel, F const& f) {
    using Grid = decltype(grid_of(kernel));
    constexpr int64_t E = sizeof(*kernel.in), BLK_M = Grid::BLK_M, BLK_N = Grid::BLK_N;
    int64_t const in_m = BLK_M * kernel.ld_in * E, in_n = BLK_N * E;
    int64_t const out_m = Grid::transposes ? BLK_M * E : BLK_M * kernel.ld_out * E;
    int64_t const out_n = Grid::transposes ? BLK_N * kernel.ld_out * E : in_n;
    over_phases(kernel.batch, kernel.batch_in * E, kernel.batch_out * E, [&](int64_t l, int64_t nl) {
      over_kinds(kernel.tiles_m, in_m, out_m, [&](int64_t m, int64_t nm) {
        over_kinds(kernel.tiles_n, in_n, out_n,
                   [&](int64_t n, int64_t nn) { f(kernel, kernel.block_of(m, n, l), nl * nm * nn); });
      });
    });
  }
};

}  // namespace inlay::kernels
