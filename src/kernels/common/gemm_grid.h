// What every GEMM kernel shares: which tile of C a block has, and which part of K.
#pragma once
#include <inlay/kernels/common/dispatch.h>

namespace inlay::kernels {

// Sixteen bytes as four floats: a vector to the compiler, whose parts are registers of their own.
using Float4 = UniversalCopy<float4>;

// C (M,N,L) in tiles of (BLK_M,BLK_N), one after the other along n. K may be split into slices: each block then makes a
// partial sum, and g.D is where those go, matrix after matrix and part after part.
template <int BLK_M, int BLK_N>
struct GemmGrid {
  Gemm g;
  int tiles_m, tiles_n;
  int64_t slice_k;  // of K, in each part but the last

  static GemmGrid make(Gemm const& g) {
    return {g, int(ceil_div(g.M(), BLK_M)), int(ceil_div(g.N(), BLK_N)), g.slices > 1 ? g.slice_K : g.K()};
  }
  int64_t blocks() const { return int64_t(tiles_m) * tiles_n * g.L() * g.slices; }

  struct At {
    int64_t m, n, l;     // the tile's first element
    int rows, cols;      // of the tile inside C
    int64_t k, K;        // the first of K and how many
    float const *A, *B;  // at (m,k) and (n,k)
    float* D;            // at (m,n)
  };
  CUTE_HOST_DEVICE At at(unsigned block) const {
    unsigned const n = block % tiles_n, m = block / tiles_n % tiles_m, matrix = block / tiles_n / tiles_m;
    unsigned const part = matrix / unsigned(g.L());
    At t{};
    t.m = int64_t(m) * BLK_M, t.n = int64_t(n) * BLK_N, t.l = matrix % unsigned(g.L()), t.k = part * slice_k;
    t.rows = g.M() - t.m < BLK_M ? int(g.M() - t.m) : BLK_M;
    t.cols = g.N() - t.n < BLK_N ? int(g.N() - t.n) : BLK_N;
    t.K = g.K() - t.k < slice_k ? g.K() - t.k : slice_k;
    t.A = element<float const>(g.A, t.m, t.k, t.l);
    t.B = element<float const>(g.B, t.n, t.k, t.l);
    t.D = element<float>(g.D, t.m, t.n, int64_t(matrix));
    return t;
  }
  template <class T>
  CUTE_HOST_DEVICE static T* element(Operand const& o, int64_t i, int64_t j, int64_t l) {
    return o.as<T>() + (l * o.batch_stride + i * o.row_stride + j * o.col_stride);
  }

  static Reason rejects(Gemm const& g, Device const&) {
    int64_t const m = ceil_div(g.M(), int64_t(BLK_M)), n = ceil_div(g.N(), int64_t(BLK_N));
    return too_many("{} x {} tiles in {} matrices are more blocks than a grid holds", __int128(m) * n, g.L(),
                    {m, n, g.L()});
  }
};

}  // namespace inlay::kernels
