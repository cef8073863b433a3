// What the kernels for a large matrix times 1 to 8 vectors share: Y(r,t) = sum over k of W(r,k) X(k,t). A cluster of up
// to 8 blocks has a tile of rows, a block of it a range of k; the sums of the blocks are added in the order of k,
// through distributed shared memory.
#pragma once
#include <inlay/block/load_ops.h>
#include <inlay/kernels/common/epilogue.h>

namespace inlay::kernels {

// The grid: a cluster of `parts` blocks for each tile of rows, each with a range of `part_k` indices k; the last ranges
// may be shorter.
struct ThinGrid {
  int tiles, parts, part_k;

  // part_k is a multiple of `unit`. There are fewer than `most_parts` blocks if K has fewer units.
  static ThinGrid of(int64_t K, int64_t rows, int64_t tile, int64_t unit, int64_t most_parts) {
    int64_t const k = ceil_div(ceil_div(K, most_parts), unit) * unit;
    return {int(ceil_div(rows, tile)), int(ceil_div(K, k)), int(k)};
  }

  struct At {
    int64_t l;               // matrix of the batch
    int tile, part, k0, k1;  // the block's range is k0 to k1 - 1
  };
  CUTE_HOST_DEVICE At at(unsigned block, int K) const {
    At t{};
    t.part = int(block % unsigned(parts)), t.tile = int(block / unsigned(parts) % unsigned(tiles));
    t.l = block / unsigned(parts) / unsigned(tiles);
    t.k0 = cute::min(K, t.part * part_k), t.k1 = cute::min(K, t.k0 + part_k);
    return t;
  }
};

struct Thin {
  static constexpr int64_t kMostVectors = 8;

  float const *W, *X;                                     // (R,K,L), the large operand; (K,T,L), the vectors
  float* Y;                                               // (R,T,L)
  int64_t w_step;                                         // stride of the mode of W that is not contiguous, in elements
  int64_t w_batch, x_k, x_t, x_batch, y_r, y_t, y_batch;  // other strides, in elements
  int R, K, vectors;                                      // extents; vectors: of T, 1 to 8
  int64_t L;
  Epilogue epilogue;
  ThinGrid grid;

  int64_t blocks() const { return int64_t(grid.tiles) * grid.parts * L; }
  int cluster() const { return grid.parts; }

  static bool rows_of_a(Gemm const& g) { return g.N() <= g.M(); }
  static Operand const& large(Gemm const& g) { return rows_of_a(g) ? g.A : g.B; }
  static Operand const& small(Gemm const& g) { return rows_of_a(g) ? g.B : g.A; }
  static bool along_k(Operand const& w) { return w.col_stride == 1; }
  // Whether W is read by 16 bytes. The order of a sum follows from this, from M, N, K, and from the mode along which W
  // is contiguous.
  static bool takes_vectors(Operand const& w) {
    int64_t const run = along_k(w) ? w.cols : w.rows, step = along_k(w) ? w.row_stride : w.col_stride;
    return run % 4 == 0 && step % 4 == 0 && w.batch_stride % 4 == 0 && w.misalignment_bytes() == 0;
  }
  static Thin make(Gemm const& g, ThinGrid const& grid) {
    bool const of_a = rows_of_a(g);
    Operand const &w = large(g), &x = small(g);
    return {w.as<float const>(),
            x.as<float const>(),
            g.D.as<float>(),
            along_k(w) ? w.row_stride : w.col_stride,
            w.batch_stride,
            x.col_stride,
            x.row_stride,
            x.batch_stride,
            of_a ? g.D.row_stride : g.D.col_stride,
            of_a ? g.D.col_stride : g.D.row_stride,
            g.D.batch_stride,
            int(w.rows),
            int(g.K()),
            int(x.rows),
            g.L(),
            g.epilogue,
            grid};
  }
  void relocate(auto const& at) { W = at(W), X = at(X), Y = at(Y); }

  static Reason rejects(Gemm const& g, Device const& device) {
    if (Reason r = rejects_type<float>(g)) return r;
    if (!g.elements()) return {};
    if (g.K() == 0) return {"K is 0: there is nothing to load"};
    if (device.compute_capability < 90) return {"this GPU has no thread block clusters"};
    if (small(g).rows > kMostVectors) return {"{} rows and {} columns are both more than 8", {g.M(), g.N()}};
    Operand const& w = large(g);
    if (w.col_stride != 1 && w.row_stride != 1) return {"the large operand is contiguous along neither mode"};
    if (w.rows > INT32_MAX / 2 || g.K() > INT32_MAX / 2)
      return {"{} rows or a K of {} exceed a counter", {w.rows, g.K()}};
    return {};
  }
};

// The sums of a tile, `sums`[r * T + t] in each block of the cluster, are added in the order of its blocks and stored.
template <int ROWS, int T, int threads, class Block>
CUTE_DEVICE void store_thin(Block block, Thin const& p, ThinGrid::At const& here, int parts, float const* sums) {
  Copy_Atom<On<Block, LoadCluster<float>>, float> other;
  Copy_Atom<On<Block, UniversalCopy<float>>, float> own;
  if (parts > 1)
    block.sync_cluster(Int<threads>{});
  else
    block.sync();
  int const tid = int(block.thread_rank());
  CUTE_NO_UNROLL
  for (int e0 = here.part * threads; e0 < ROWS * T; e0 += parts * threads) {
    int const e = e0 + tid, r = here.tile * ROWS + e / T, t = e % T;
    bool const on = e < ROWS * T && r < p.R && t < p.vectors;
    float sum = 0;
    if (parts == 1)
      copy_one(own, on, make_smem_ptr(sums + e), &sum);
    else
      CUTE_NO_UNROLL
    for (int q = 0; q < parts; ++q) {
      float x = 0;
      copy_one(other, on, make_smem_ptr(block.peer(sums + e, q)), &x);
      sum += x;
    }
    store_scaled(block, p.epilogue, on, sum, p.Y + (here.l * p.y_batch + r * p.y_r + t * p.y_t));
  }
  if (parts > 1) block.sync_cluster(Int<threads>{});  // no block exits while others read its sums
}

// Copies X(k,t) for k0 <= k < k1 to shared memory, with the strides along_k and along_t in floats. Threads run along
// the contiguous mode of X. If T exceeds p.vectors, the first vector is copied instead of those that do not exist; sums
// with them are not stored.
template <int T, int threads, class Block>
CUTE_DEVICE void stage_vectors(Block block, Thin const& p, float const* X, int k0, int k1, float* to, int along_k,
                               int along_t) {
  Copy_Atom<On<Block, LoadAsyncElement>, float> atom;
  int const n = k1 - k0, tid = int(block.thread_rank());
  auto const one = [&](int k, int t, bool on) {
    copy_one(atom, on, make_gmem_ptr(X + ((k0 + k) * p.x_k + (t < p.vectors ? t : 0) * p.x_t)),
             make_smem_ptr(to + (k * along_k + t * along_t)));
  };
  if (p.x_k == 1) {
    CUTE_UNROLL
    for (int t = 0; t < T; ++t) {
      CUTE_NO_UNROLL
      for (int k = 0; k < n; k += threads) one(k + tid, t, k + tid < n);
    }
  } else {
    CUTE_NO_UNROLL
    for (int e = 0; e < n * T; e += threads) one((e + tid) / T, (e + tid) % T, e + tid < n * T);
  }
  block.cp_async_fence();
  block.cp_async_wait(Int<0>{});
  block.sync();
}

}  // namespace inlay::kernels
