// Which tile a block has: consecutive blocks take consecutive tiles along one mode, then bands of them along the other.
#pragma once
#include <inlay/kernels/common/dispatch.h>

namespace inlay::kernels {

struct TileOrder {
  cutlass::FastDivmod by_fast, by_slow;  // tiles along the mode that runs fastest, and along the other
  // So many bands lie between one band and the next, in groups of twice as many: 0, 3, 1, 4, 2, 5 for 3. None: 0.
  int apart = 0;

  struct Place {
    int fast, slow, l;  // tiles along the two modes; the matrix
  };
  CUTE_HOST_DEVICE Place place(uint32_t block) const {
    int fast, band, rest, l;
    by_fast(rest, fast, int(block));
    by_slow(l, band, rest);
    int const in_group = apart ? band % (2 * apart) : 0;
    return {fast, apart ? band - in_group + in_group % 2 * apart + in_group / 2 : band, l};
  }
  // The block that has band number `slow` of the order, not counting how bands lie apart: what it does is the same.
  int64_t block_of(int64_t fast, int64_t slow, int64_t l) const {
    return (l * by_slow.divisor + slow) * by_fast.divisor + fast;
  }
};

}  // namespace inlay::kernels
