// The order of tiles: consecutive blocks take the tiles of a band along one mode, then the next band.
#pragma once
#include <inlay/kernels/common/dispatch.h>

namespace inlay::kernels {

struct TileOrder {
  cutlass::FastDivmod by_fast, by_slow;  // tiles along the mode that runs fastest, and along the other
  // Distance of successive bands in groups of 2 * band_stride: for 3 the order is 0, 3, 1, 4, 2, 5. 0: ascending.
  int band_stride = 0;

  struct Coord {
    int fast, slow, l;  // tiles along the two modes; the matrix
  };
  CUTE_HOST_DEVICE Coord coord(uint32_t block) const {
    int fast, band, rest, l;
    by_fast(rest, fast, int(block));
    by_slow(l, band, rest);
    int const in_group = band_stride ? band % (2 * band_stride) : 0;
    return {fast, band_stride ? band - in_group + in_group % 2 * band_stride + in_group / 2 : band, l};
  }
  // The index of a block with the same accesses as the block of this tile; ignores band_stride, which permutes bands.
  int64_t block_of(int64_t fast, int64_t slow, int64_t l) const {
    return (l * by_slow.divisor + slow) * by_fast.divisor + fast;
  }
};

}  // namespace inlay::kernels
