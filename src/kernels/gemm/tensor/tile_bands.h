// The order in which blocks compute tiles: in bands of BAND columns of tiles, and in a band row after row, so that the
// blocks that run at the same time read the same rows of A and columns of B, and find them in the L2.
#pragma once
#include <cute/config.hpp>
#include <cute/numeric/math.hpp>

#include <cstdint>

namespace inlay::kernels {

struct TileCoord {
  int m, n, matrix;  // tiles along both modes; the matrix of the batch
};
// The coordinates of a tile, where matrices have tiles_m x tiles_n. band: the width of a band in tiles, at most
// tiles_n.
CUTE_HOST_DEVICE TileCoord tile_in_bands(int tile, int tiles_m, int tiles_n, int band) {
  int const matrix = tile / (tiles_m * tiles_n), t = tile % (tiles_m * tiles_n),
            first = t / (band * tiles_m) * band,  // band * tiles_m fits, as the tiles of a matrix do
      width = cute::min(band, tiles_n - first), in_band = t - first * tiles_m;
  return {in_band / width, first + in_band % width, matrix};
}

// BAND: the width of a band, in tiles along n.
template <int BAND>
struct TileBands {
  int tiles_m, tiles_n;  // of a matrix

  CUTE_HOST_DEVICE int of_matrix() const { return tiles_m * tiles_n; }
  CUTE_HOST_DEVICE TileCoord at(int tile) const {
    return tile_in_bands(tile, tiles_m, tiles_n, cute::min(BAND, tiles_n));
  }
  // The number of the tile at these coordinates.
  CUTE_HOST_DEVICE int64_t tile(int64_t m, int64_t n, int64_t matrix) const {
    int64_t const first = n / BAND * BAND, left = tiles_n - first, width = left < BAND ? left : BAND;
    return matrix * of_matrix() + first * tiles_m + m * width + n - first;
  }
};

}  // namespace inlay::kernels
