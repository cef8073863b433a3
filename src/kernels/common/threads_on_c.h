// How the threads of a block lie on a tile of C.
#pragma once
#include <inlay/kernels/common/dispatch.h>

namespace inlay::kernels {

// PermM and PermN: where the elements of all threads come from, thread after thread.
// One by one, n fastest; a thread's elements are as far apart as there are threads in that direction.
template <int BLK_M, int BLK_N, int THR_M, int THR_N>
struct FlatThreads {
  using Atoms = Layout<Shape<Int<THR_M>, Int<THR_N>, _1>, Stride<Int<THR_N>, _1, _0>>;  // (THR_M,THR_N,1)
  using PermM = Layout<Int<BLK_M>>;
  using PermN = Layout<Int<BLK_N>>;
};
// Warps have tiles of their own, n fastest, and so have lanes within them: quads, side by side, of neighbours in m and n.
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

  // C in bands: the rows of one quad of every thread.
  static constexpr int bands = VAL_M / 4, band_rows = 4 * LANES_M * WARPS_M, columns = LANES_N * WARPS_N * VAL_N;
  using Bands = Layout<Shape<Shape<Int<4 * LANES_M>, Int<WARPS_M>>, Int<bands>>,
                       Stride<Stride<_1, Int<LANES_M * VAL_M>>, Int<LANES_M * 4>>>;  // ((row),band) -> m
  // Where a thread's quads lie in a band.
  CUTE_HOST_DEVICE static int row(int thread) {
    return 4 * (thread % 32 / LANES_N + LANES_M * (thread / 32 / WARPS_N));
  }
  CUTE_HOST_DEVICE static int column(int thread) {
    return 4 * (thread % LANES_N) + LANES_N * VAL_N * (thread / 32 % WARPS_N);
  }
  static constexpr int next_column = 4 * LANES_N;
};

}  // namespace inlay::kernels
