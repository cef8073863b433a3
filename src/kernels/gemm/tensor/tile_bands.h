// The order in which blocks compute tiles: in bands of BAND columns of tiles, and in a band row after row, so that the
// blocks that run at the same time read the same rows of A and columns of B, and find them in the L2.
#pragma once
#include <cute/config.hpp>
#include <cute/numeric/math.hpp>

#include <cstdint>

namespace inlay::kernels {

// BAND: the width of a band, in tiles along n.
template <int BAND>
struct TileBands {
  int tiles_m, tiles_n;  // of a matrix

  struct Coord {
    int m, n, matrix;  // tiles along both modes; the matrix of the batch
  };
  CUTE_HOST_DEVICE int of_matrix() const { return tiles_m * tiles_n; }
  CUTE_HOST_DEVICE Coord at(int tile) const {
    int const t = tile % of_matrix(), band = cute::min(BAND, tiles_n),  // band * tiles_m fits, as of_matrix() does
        first = t / (band * tiles_m) * band, width = cute::min(band, tiles_n - first), in_band = t - first * tiles_m;
    return {in_band / width, first + in_band % width, tile / of_matrix()};
  }
  // The number of the tile at these coordinates.
  CUTE_HOST_DEVICE int64_t tile(int64_t m, int64_t n, int64_t matrix) const {
    int64_t const first = n / BAND * BAND, left = tiles_n - first, width = left < BAND ? left : BAND;
    return matrix * of_matrix() + first * tiles_m + m * width + n - first;
  }
};

}  // namespace inlay::kernels
