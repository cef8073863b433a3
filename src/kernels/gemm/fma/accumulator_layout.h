// Which accumulators of a tile of D each thread of a block holds.
#pragma once
#include <inlay/kernels/common/dispatch.h>

namespace inlay::kernels {

// Each warp has a tile of its own. Warps run fastest along n, as do the lanes of a warp. A lane holds 4 x 4 blocks of
// adjacent elements; the blocks of adjacent lanes are adjacent. Atoms: the thread layout of a TiledMMA. PermM, PermN:
// its permutations of the tile along m and n.
template <int WARPS_M, int WARPS_N, int LANES_M, int LANES_N, int VAL_M, int VAL_N>
struct WarpTiles {
  static_assert(LANES_M * LANES_N == 32 && VAL_M % 4 == 0 && VAL_N % 4 == 0);
  using Atoms = Layout<Shape<Shape<Int<LANES_M>, Int<WARPS_M>>, Shape<Int<LANES_N>, Int<WARPS_N>>, _1>,
                       Stride<Stride<Int<LANES_N>, Int<32 * WARPS_N>>, Stride<_1, _32>, _0>>;  // (THR_M,THR_N,1)
  template <int LANES, int WARPS, int VAL>
  using Quads =
      Layout<Shape<Int<LANES>, Int<WARPS>, _4, Int<VAL / 4>>, Stride<_4, Int<LANES * VAL>, _1, Int<LANES * 4>>>;
  using PermM = Quads<LANES_M, WARPS_M, VAL_M>;
  using PermN = Quads<LANES_N, WARPS_N, VAL_N>;

  // The tile in bands: a band holds four rows of every thread.
  static constexpr int bands = VAL_M / 4, band_rows = 4 * LANES_M * WARPS_M;
  using Bands = Layout<Shape<Shape<Int<4 * LANES_M>, Int<WARPS_M>>, Int<bands>>,
                       Stride<Stride<_1, Int<LANES_M * VAL_M>>, Int<LANES_M * 4>>>;  // ((row),band) -> m
  // First row and column of a thread in a band; next_column: from one four columns to the next.
  CUTE_HOST_DEVICE static int row(int thread) {
    return 4 * (thread % 32 / LANES_N + LANES_M * (thread / 32 / WARPS_N));
  }
  CUTE_HOST_DEVICE static int column(int thread) {
    return 4 * (thread % LANES_N) + LANES_N * VAL_N * (thread / 32 % WARPS_N);
  }
  static constexpr int next_column = 4 * LANES_N;
};

}  // namespace inlay::kernels
