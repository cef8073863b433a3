// Family: tensor cores without shared memory. Each warp loads its mma fragments from global memory, element by element:
// any strides and alignment.
#pragma once
#include <inlay/kernels/gemm/tensor/mma.h>

namespace inlay::kernels {

// Step gives the kernel's symbol its name.
template <class Step, class T>
struct MmaFromGlobal : GemmGrid<64, 64, T, Epilogues::full> {
  using Grid = GemmGrid<64, 64, T, Epilogues::full>;
  static constexpr int BLK_M = 64, BLK_N = 64, BLK_K = 16;
  static constexpr LaunchInfo launch_info{.threads = 128};
  struct Smem {};

  static MmaFromGlobal make(Gemm const& g, auto const&) { return {Grid::make(g)}; }

  template <class Block>
  CUTE_DEVICE void operator()(Block block, Smem&) const {
    Gemm const& g = this->g;
    auto const here = this->at(block.block_index());
    Tensor gA = make_tensor(make_gmem_ptr(here.A), Shape<Int<BLK_M>, Int<BLK_K>>{},
                            make_stride(g.A.row_stride, g.A.col_stride));  // (BLK_M,BLK_K)
    Tensor gB = make_tensor(make_gmem_ptr(here.B), Shape<Int<BLK_N>, Int<BLK_K>>{},
                            make_stride(g.B.row_stride, g.B.col_stride));                   // (BLK_N,BLK_K)
    auto mma = make_tiled_mma(MMA_Atom<On<Block, Mma<T>>>{}, Layout<Shape<_2, _2, _1>>{});  // four warps
    auto thr_mma = mma.get_slice(int(block.thread_rank()));
    Tensor tCgA = thr_mma.partition_A(gA);                                     // (MMA,MMA_M,MMA_K)
    Tensor tCgB = thr_mma.partition_B(gB);                                     // (MMA,MMA_N,MMA_K)
    Tensor tCcA = thr_mma.partition_A(make_identity_tensor(shape(gA)));        // (MMA,MMA_M,MMA_K) -> (m,k)
    Tensor tCcB = thr_mma.partition_B(make_identity_tensor(shape(gB)));        // (MMA,MMA_N,MMA_K) -> (n,k)
    Tensor tCrA = thr_mma.partition_fragment_A(gA);                            // (MMA,MMA_M,MMA_K)
    Tensor tCrB = thr_mma.partition_fragment_B(gB);                            // (MMA,MMA_N,MMA_K)
    Tensor tCrD = partition_fragment_C(mma, Shape<Int<BLK_M>, Int<BLK_N>>{});  // (MMA,MMA_M,MMA_N)
    clear(tCrD);
    for (int64_t k = 0; k < here.K; k += BLK_K) {
      int const left = int(cute::min(here.K - k, int64_t(BLK_K)));
      load(block, tCgA, tCcA, make_coord(here.rows, left), tCrA);
      load(block, tCgB, tCcB, make_coord(here.cols, left), tCrB);
      gemm(mma, tCrA, tCrB, tCrD);
      tCgA.data() = tCgA.data() + BLK_K * g.A.col_stride;
      tCgB.data() = tCgB.data() + BLK_K * g.B.col_stride;
    }
    Shape<Int<BLK_M>, Int<BLK_N>> const tile;
    finish_fragment<T, Epilogues::full>(block, g, thr_mma, tile, tCrD, here.m, here.n, here.matrix);
    store_fragment<T, Epilogues::full>(block, g, thr_mma, tile, tCrD, here.m, here.n, here.matrix);
  }

 private:
  // Loads a fragment element by element; zeros beyond the edge.
  template <class Block, class G, class C, class Edge, class R>
  CUTE_DEVICE static void load(Block, G const& tCg, C const& tCc, Edge const& edge, R& tCr) {
    Copy_Atom<On<Block, UniversalCopy<T>>, T> atom;
    clear(tCr);
    CUTE_UNROLL
    for (int i = 0; i < size(tCr); ++i) copy_one(atom, elem_less(tCc(i), edge), make_gmem_ptr(&tCg(i)), &tCr(i));
  }
};

}  // namespace inlay::kernels
