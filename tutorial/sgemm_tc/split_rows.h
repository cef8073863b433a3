// How a block loads a tile of an fp32 operand, and writes it to shared memory as f16 slices.
#pragma once
#include <inlay/kernels/gemm/tensor/mma.h>

namespace inlay::kernels {

// The tile has 128 rows of an operand, 64 indices of K each. A warp loads 256 bytes of each of two rows; a thread has
// vectors of four elements in eight rows, 16 apart.
struct SplitRows {
  static constexpr int BLK = 128, BLK_K = 64, threads = 256;
  static constexpr int vectors = BLK_K / 4, step = threads / vectors, rows_of_thread = BLK / step;
  float const* first;  // element of the tile at index 0 of K
  int64_t pitch, K;
  int rows;  // inside the operand

  template <class Block>
  CUTE_DEVICE static int first_row(Block block) {
    return int(block.thread_rank()) / vectors;
  }

  // Loads a thread's elements of the tile, from index k on; zeros beyond the edges.
  template <class Block>
  CUTE_DEVICE auto load(Block block, int64_t k) const {
    Shape<Int<BLK>, Int<BLK_K>> const tile;
    auto load =
        make_tiled_copy(Copy_Atom<On<Block, Float4>, float>{},
                        Layout<Shape<Int<step>, Int<vectors>>, Stride<Int<vectors>, _1>>{}, Layout<Shape<_1, _4>>{});
    auto thr_load = load.get_slice(int(block.thread_rank()));
    Tensor gX = make_tensor(make_gmem_ptr(first + k), tile, make_stride(pitch, _1{}));  // (BLK,BLK_K)
    Tensor tXgX = thr_load.partition_S(gX);                                             // (CPY,CPY_M,CPY_K)
    Tensor tXcX = thr_load.partition_S(make_identity_tensor(tile));                     // (CPY,CPY_M,CPY_K) -> (row,k)
    Tensor tXrX = make_tensor<float>(shape(tXgX));                                      // (CPY,CPY_M,CPY_K)
    auto const edge = make_coord(rows, K - k);
    clear(tXrX);
    copy_if(load, lazy::transform(tXcX, [&](auto const& c) { return elem_less(c, edge); }), tXgX, tXrX);
    return tXrX;
  }

  // Finds the exponent of the power of two that brings the largest element of each row to 2^14 or more, below 2^15. At
  // most 126: 2^126 and its reciprocal are normal numbers.
  template <class Block>
  CUTE_DEVICE void find_exponents(Block block, int* to) const {
    unsigned most[rows_of_thread] = {};  // |x| as bits, of the thread's elements of a row
    CUTE_NO_UNROLL
    for (int64_t k = 0; k < K; k += BLK_K) {
      Tensor tXrX = load(block, k);  // (CPY,CPY_M,CPY_K)
      CUTE_UNROLL
      for (int m = 0; m < rows_of_thread; ++m) CUTE_UNROLL
      for (int v = 0; v < 4; ++v) most[m] = cute::max(most[m], std::bit_cast<unsigned>(tXrX(v, m, 0)) & 0x7fffffffu);
    }
    Copy_Atom<On<Block, UniversalCopy<int>>, int> atom;
    CUTE_UNROLL
    for (int m = 0; m < rows_of_thread; ++m) {
      CUTE_UNROLL
      for (int lanes = vectors / 2; lanes > 0; lanes /= 2) most[m] = cute::max(most[m], block.shfl_xor(most[m], lanes));
      int const exponent = most[m] ? cute::min(127 + 14 - int(most[m] >> 23), 126) : 0;
      copy_one(atom, block.thread_rank() % vectors == 0, &exponent, make_smem_ptr(to + first_row(block) + m * step));
    }
  }

  // Writes both slices of a thread's elements to shared memory: rows of 128 bytes, whose 16-byte chunks are permuted by
  // wgmma's swizzle. exponents: of the powers of two by which rows are scaled, if they are. lo_scale: of second slices.
  template <bool scales_rows, class Block, class R>
  CUTE_DEVICE static void split(Block block, R const& tXrX, half_t* tile, int const* exponents, float lo_scale) {
    // The thread's rows are multiples of eight apart: the swizzle permutes their chunks alike.
    int const row = first_row(block), column = (int(block.thread_rank()) % vectors * 4) ^ (row % 8 * 8);
    Tensor tXsX = make_tensor(make_smem_ptr(tile + (row * BLK_K + column)), Shape<_4, Int<rows_of_thread>, _2>{},
                              Stride<_1, Int<step * BLK_K>, Int<BLK * BLK_K>>{});  // (CPY,CPY_M,slice)
    Tensor tXrS = make_tensor<half_t>(shape(tXsX));                                // (CPY,CPY_M,slice)
    Copy_Atom<On<Block, UniversalCopy<int>>, int> atom;
    CUTE_UNROLL
    for (int m = 0; m < rows_of_thread; ++m) {
      int exponent = 0;
      if constexpr (scales_rows) copy_one(atom, true, make_smem_ptr(exponents + row + m * step), &exponent);
      float const scale = std::bit_cast<float>((127 + exponent) << 23);
      CUTE_UNROLL
      for (int v = 0; v < 4; ++v) tXrS(v, m, 0) = half_t(tXrX(v, m, 0) * scale);  // rounded to nearest
      CUTE_UNROLL
      for (int v = 0; v < 4; ++v) tXrS(v, m, 1) = half_t((tXrX(v, m, 0) * scale - float(tXrS(v, m, 0))) * lo_scale);
    }
    // Four elements as a float2: the compiler packs pairs of them in one instruction, which it does not where they are
    // one integer.
    copy(Copy_Atom<On<Block, UniversalCopy<float2>>, half_t>{}, tXrS, tXsX);
  }
};

}  // namespace inlay::kernels
