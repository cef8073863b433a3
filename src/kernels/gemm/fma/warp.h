// Shared by ring.h and cluster.h: a warp computes 64 x 64 elements of D, a thread 8 x 16 of them,
// from stages that hold A as (BLK_K,BLK_M) and B as (BLK_K,BLK_N), row-major.
#pragma once
#include <inlay/block/quad_ops.h>
#include <inlay/kernels/common/gemm_grid.h>

namespace inlay::kernels {

// The lanes lie 8 (m) x 4 (n), n fastest. Lane (r, s) has the rows r * 4 + i % 4 + i / 4 * 32 and the columns
// s * 4 + j % 4 + j / 4 * 16 of the warp's tile.
template <class Block>
struct SgemmWarp {
  float acc[8][16];  // (m,n)
  float a[2][8];     // (buffer,m)
  float b[2][16];    // (buffer,n)

  // The loop multiplies the slice that was loaded last; its first iteration multiplies zeros.
  CUTE_DEVICE void clear() {
    CUTE_UNROLL
    for (int i = 0; i < 8; ++i) {
      a[1][i] = 0;
      CUTE_UNROLL
      for (int j = 0; j < 16; ++j) acc[i][j] = 0;
    }
    CUTE_UNROLL
    for (int j = 0; j < 16; ++j) b[1][j] = 0;
  }

  // Loads `K` slices, LDA and LDB floats apart, each while the previous one is multiplied, SLICES
  // of them per iteration. A thread's elements of A begin at pa, those of B at pb.
  template <int K, int SLICES, int LDA, int LDB>
  CUTE_DEVICE void multiply(float const* pa, float const* pb) {
    float const* const end = pa + K * LDA;
    CUTE_NO_UNROLL
    do {
      cute::for_each(make_int_sequence<SLICES>{},
                     [&](auto k) { slice<(k + 1) % 2, true>(pa + k * LDA, pb + k * LDB); });
      pa += SLICES * LDA, pb += SLICES * LDB;
    } while (pa < end);
  }
  // Multiplies the slice that was loaded last.
  CUTE_DEVICE void finish() { slice<1, false>(nullptr, nullptr); }

  // Multiplies buffer `now`, and loads the other one meanwhile. Even rows of the outer product run backwards: at each
  // change of direction an operand is reused, and the new one and the accumulator lie in different register banks.
  template <int now, bool loads>
  CUTE_DEVICE void slice(float const* pa, float const* pb) {
    Copy_Atom<On<Block, LoadSharedOrdered>, Quad> atom;
    auto const load = [&](float const* from, float* to) {
      copy_one(atom, true, make_smem_ptr(reinterpret_cast<Quad const*>(from)), reinterpret_cast<Quad*>(to));
    };
    CUTE_UNROLL
    for (int i = 0; i < 8; ++i) {
      if constexpr (loads) {
        // Loads the quads of B, then those of A (4 and 5), one for each row of the outer product
        // from the second on. Of the orders tried, this one leaves the fewest FFMAs waiting for
        // registers; the SASS must be checked again after every change (bench/sass.py).
        constexpr int order[] = {3, 2, 1, 0, 5, 4};
        if (i >= 1 && i < 7) {
          int const q = order[i - 1];
          if (q < 4)
            load(pb + q * 16, &b[now ^ 1][q * 4]);
          else
            load(pa + (q - 4) * 32, &a[now ^ 1][(q - 4) * 4]);
        }
      }
      CUTE_UNROLL
      for (int jj = 0; jj < 16; ++jj) {
        int const j = i % 2 ? jj : 15 - jj;
        On<Block, OrderedFma>::fma(acc[i][j], b[now][j], a[now][i]);
      }
    }
  }
};

// Completed block sums, in the order in which lanes hold them: in shared memory, because no
// registers are left.
struct BlockSums {
  static constexpr int smem_floats = 64 * 64;  // for a warp

  // acc += sums, if `any`.
  template <class Block>
  CUTE_DEVICE static void add(float (&acc)[8][16], float const* sums, int lane, bool any) {
    Copy_Atom<On<Block, UniversalCopy<Quad>>, Quad> atom;
    CUTE_UNROLL
    for (int v = 0; v < 32; ++v) {
      Quad x{};
      copy_one(atom, any, make_smem_ptr(reinterpret_cast<Quad const*>(sums) + v * 32 + lane), &x);
      CUTE_UNROLL
      for (int e = 0; e < 4; ++e) acc[v / 4][v % 4 * 4 + e] += x.x[e];
    }
  }
  template <class Block>
  CUTE_DEVICE static void put(float const (&acc)[8][16], float* sums, int lane) {
    Copy_Atom<On<Block, UniversalCopy<Quad>>, Quad> atom;
    CUTE_UNROLL
    for (int v = 0; v < 32; ++v)
      copy_one(atom, true, reinterpret_cast<Quad const*>(&acc[v / 4][v % 4 * 4]),
               make_smem_ptr(reinterpret_cast<Quad*>(sums) + v * 32 + lane));
  }
};

}  // namespace inlay::kernels
