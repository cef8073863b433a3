// D through shared memory: a warpgroup stages 64 x 64 elements, its warps write them in rows.
#pragma once
#include <inlay/kernels/gemm/tensor/mma.h>

namespace inlay::kernels {

// A warp writes 16 rows of a swizzled shared tile (64,64) to rows of D, in which consecutive lanes write consecutive
// elements. to: the element of D for the first of the tile. rows, cols: how many rows and columns D has from there on.
template <class T, class Block>
CUTE_DEVICE void store_staged_rows(Block, T const* tile, T* to, int64_t pitch, int64_t rows, int64_t cols, int warp,
                                   int lane) {
  Copy_Atom<On<Block, UniversalCopy<T>>, T> atom;
  constexpr int at_once = 4;  // rows
  CUTE_NO_UNROLL
  for (int first = warp * 16; first < warp * 16 + 16; first += at_once) {
    T x[at_once][2];
    auto const each = [&](auto const& f) {
      CUTE_UNROLL
      for (int r = 0; r < at_once; ++r) CUTE_UNROLL
      for (int half = 0; half < 2; ++half) {
        int const row = first + r, column = 32 * half + lane;
        f(row < rows && column < cols, row, column, &x[r][half]);
      }
    };
    each([&](bool on, int row, int column, T* p) {
      int const swizzled =
          column ^ row % 8 * 8;  // its 16-byte chunk; a swizzled pointer would be loaded by generic instructions
      copy_one(atom, on, make_smem_ptr(tile + (row * 64 + swizzled)), p);
    });
    each(
        [&](bool on, int row, int column, T* p) { copy_one(atom, on, p, make_gmem_ptr(to + (row * pitch + column))); });
  }
}

// A warp writes its 16 x 64 sums, of which `sum` gives the i-th, to a shared tile whose rows are those of D.
template <bool along_m, class T, class Block, class SD>
CUTE_DEVICE void stage_sums(Block, SD const& sD, int warp, int lane, auto const& sum) {
  using Stmatrix = std::conditional_t<along_m, SM90_U16x8_STSM_T, SM90_U32x4_STSM_N>;
  Copy_Atom<On<Block, Stmatrix>, T> stmatrix;
  CUTE_UNROLL
  for (int c = 0; c < 4; ++c) {  // 16 x 16: four 8 x 8 matrices, the address of a row of the shared tile per lane
    Tensor values = make_tensor<T>(_8{});
    CUTE_UNROLL
    for (int v = 0; v < 8; ++v) values(v) = T(sum(c * 8 + v));
    T* const row = along_m ? &sD(c * 16 + lane / 16 * 8 + lane % 8, warp * 16 + lane / 8 % 2 * 8)
                           : &sD(warp * 16 + lane % 16, c * 16 + lane / 16 * 8);
    copy(stmatrix, values, make_tensor(make_smem_ptr(row), _8{}));
  }
}

}  // namespace inlay::kernels
