// What every GEMM kernel shares: which tile of C a block has, and which part of K.
#pragma once
#include "block/block.h"
#include "plan/traffic.h"
#include "plan/variant.h"

namespace inlay::kernels {
using namespace cute;
using cute::Tensor;  // here it is CuTe's, not the public view

// An element of C from its sum over k and its old value, which was not read if beta is 0.
CUTE_HOST_DEVICE float scaled(Gemm const& g, float sum, float old) {
  return g.beta != 0 ? fmaf(g.alpha, sum, g.beta * old) : g.alpha * sum;  // the same rounding in every kernel
}

// Flags in a workspace, whose content nobody knows, before the kernel that uses them.
struct ClearFlags {
  unsigned* flags;
  int count;
  static constexpr int threads = 256;
  struct Smem {};
  int64_t blocks() const { return 1; }

  template <class Block>
  CUTE_DEVICE void operator()(Block block, Smem&) const {
    Copy_Atom<On<Block, UniversalCopy<unsigned>>, unsigned> atom;
    unsigned const zero = 0;
    for (int first = 0; first < count; first += threads)
      copy_one(atom, first + int(block.thread_rank()) < count, &zero,
               make_gmem_ptr(flags + first + block.thread_rank()));
  }
};

// Calls f(i, times): the last of `count` things, and one for all the others.
template <class F>
void over_edge(int64_t count, F const& f) {
  if (count > 1) f(0, count - 1);
  f(count - 1, 1);
}
// Calls f(l, times) for the matrices of a batch, by where they begin modulo a sector.
template <class F>
void over_matrices(Gemm const& g, F const& f) {
  int64_t const bytes = 4 * std::gcd(std::gcd(g.a_l, g.b_l), g.c_l);
  over_phases(g.L, bytes, bytes, f);
}

// C (M,N,L) in tiles of (BLK_M,BLK_N), one after the other along n. K may be cut into parts: each block then makes a
// partial sum, and g.C is where those go, matrix after matrix and part after part.
template <int BLK_M, int BLK_N>
struct GemmGrid {
  Gemm g;
  int tiles_m, tiles_n;
  int parts = 1;
  int64_t part_k = g.K;  // of K, in each part but the last

  static GemmGrid make(Gemm const& g) { return {g, int(ceil_div(g.M, BLK_M)), int(ceil_div(g.N, BLK_N))}; }
  int64_t blocks() const { return int64_t(tiles_m) * tiles_n * g.L * parts; }

  // Calls f(kernel, block, times): blocks by which edges are theirs, and where their matrix begins modulo a sector.
  // Tiles are whole sectors apart. K is in one part.
  template <class Kernel, class F>
  static void kinds(Kernel const& kernel, F const& f) {
    GemmGrid const& t = kernel;
    over_matrices(t.g, [&](int64_t l, int64_t nl) {
      over_edge(t.tiles_m, [&](int64_t m, int64_t nm) {
        over_edge(t.tiles_n,
                  [&](int64_t n, int64_t nn) { f(kernel, (l * t.tiles_m + m) * t.tiles_n + n, nl * nm * nn); });
      });
    });
  }

  struct At {
    int64_t m, n, l;     // the tile's first element
    int rows, cols;      // of the tile inside C
    int64_t k, K;        // the first of K and how many
    float const *A, *B;  // at (m,k) and (n,k)
    float* C;            // at (m,n)
  };
  CUTE_HOST_DEVICE At at(unsigned block) const {
    unsigned const n = block % tiles_n, m = block / tiles_n % tiles_m, matrix = block / tiles_n / tiles_m;
    unsigned const part = matrix / unsigned(g.L);
    At t{};
    t.m = int64_t(m) * BLK_M, t.n = int64_t(n) * BLK_N, t.l = matrix % unsigned(g.L), t.k = part * part_k;
    t.rows = g.M - t.m < BLK_M ? int(g.M - t.m) : BLK_M;
    t.cols = g.N - t.n < BLK_N ? int(g.N - t.n) : BLK_N;
    t.K = g.K - t.k < part_k ? g.K - t.k : part_k;
    t.A = g.A + (t.l * g.a_l + t.m * g.a_m + t.k * g.a_k);
    t.B = g.B + (t.l * g.b_l + t.n * g.b_n + t.k * g.b_k);
    t.C = g.C + (int64_t(matrix) * g.c_l + t.m * g.c_m + t.n * g.c_n);
    return t;
  }

  static Reason rejects(Gemm const& g, Device const&) {
    int64_t const m = ceil_div(g.M, int64_t(BLK_M)), n = ceil_div(g.N, int64_t(BLK_N));
    if (__int128(m) * n * g.L <= INT32_MAX) return {};
    return {"{} x {} tiles in {} matrices are more blocks than a grid holds", {m, n, g.L}};
  }
};

}  // namespace inlay::kernels
