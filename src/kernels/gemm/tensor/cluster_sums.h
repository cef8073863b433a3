// The sums of a tile whose K is split over the blocks of a cluster: each block writes its own to shared memory, and
// adds those of all blocks, in the order of K, for some of the rows, which it writes to D.
#pragma once
#include <inlay/block/quad_ops.h>
#include <inlay/kernels/gemm/tensor/fragment_epilogue.h>

namespace inlay::kernels {

// Called by threads 0 to `threads` - 1 of each block of the cluster, which hold the accumulators of a TiledMMA.
template <int BLK_M, int BLK_N, int threads>
struct ClusterSums {
  static constexpr int pitch = BLK_N + 8;  // of sums: pairs of eight rows have different banks
  static constexpr int floats = BLK_M * pitch;
  using TileD = Shape<Int<BLK_M>, Int<BLK_N>>;

  // sums: `floats` floats of shared memory at the same offset in all blocks, (BLK_M,BLK_N):(pitch,1). parts: 2, 4 or 8
  // blocks.
  template <class Block, class TiledMma, class RD>
  CUTE_DEVICE static void add(Block block, Gemm const& g, int parts, float* sums, TiledMma const& mma, RD const& sum,
                              auto const& here) {
    Tensor tCcD = mma.get_slice(int(block.thread_rank())).partition_C(make_identity_tensor(TileD{}));
    using Pair = decltype(Adjacent<2, float>::word);
    Copy_Atom<On<Block, UniversalCopy<Pair>>, Pair> atom;
    CUTE_UNROLL
    for (int i = 0; i < int(size(RD{})); i += 2) {
      Adjacent<2, float> pair;
      pair.element[0] = sum(i), pair.element[1] = sum(i + 1);
      float* const to = sums + get<0>(tCcD(i)) * pitch + get<1>(tCcD(i));
      copy_one(atom, true, &pair.word, make_smem_ptr(reinterpret_cast<Pair*>(to)));
    }
    block.sync_cluster(Int<threads>{});
    if (parts == 2)
      store(block, g, sums, here, Int<2>{});
    else if (parts == 4)
      store(block, g, sums, here, Int<4>{});
    else
      store(block, g, sums, here, Int<8>{});
    block.sync_cluster(Int<threads>{});  // no block exits while others read its sums
  }

 private:
  template <class Block, int PARTS>
  CUTE_DEVICE static void store(Block block, Gemm const& g, float const* sums, auto const& here, Int<PARTS>) {
    constexpr int rows = BLK_M / PARTS, all = rows * BLK_N / 4;
    Copy_Atom<On<Block, LoadCluster<Quad>>, Quad> peer;
    int const first = int(block.block_index() % unsigned(PARTS)) * rows;
    bool const along_rows =
        g.D.row_stride == 1;  // D is transposed: elements of a column lie together, so consecutive lanes write one
    CUTE_UNROLL
    for (int e = 0; e < all; e += threads) {
      int const number = e + int(block.thread_rank());
      if (all < threads && number >= all) return;  // whole warps
      int const row = first + (along_rows ? number % rows : number / (BLK_N / 4)),
                column = (along_rows ? number / rows : number % (BLK_N / 4)) * 4;
      Quad x[PARTS], total{};
      CUTE_UNROLL
      for (int p = 0; p < PARTS; ++p)
        copy_one(peer, true, make_smem_ptr(block.peer(reinterpret_cast<Quad const*>(sums + row * pitch + column), p)),
                 &x[p]);
      CUTE_UNROLL
      for (int p = 0; p < PARTS; ++p) CUTE_UNROLL
      for (int v = 0; v < 4; ++v) total.x[v] += x[p].x[v];
      float* const to = g.D.as<float>() + (here.matrix * g.D.batch_stride + (here.m + row) * g.D.row_stride +
                                           (here.n + column) * g.D.col_stride);
      if (takes_vectors(g.D)) {
        store_scaled(block, g.epilogue, row < here.rows && column < here.cols, total, reinterpret_cast<Quad*>(to));
      } else {
        CUTE_UNROLL
        for (int v = 0; v < 4; ++v)
          store_scaled(block, g.epilogue, row < here.rows && column + v < here.cols, total.x[v],
                       to + v * g.D.col_stride);
      }
    }
  }
};

}  // namespace inlay::kernels
