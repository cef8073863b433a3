// Three stages in swizzled shared memory, filled by cp.async; ldmatrix loads the fragments.
#pragma once
#include <inlay/kernels/gemm/tensor/mma.h>

namespace inlay::kernels::hgemm_02_ldmatrix {

// Permutes the 16-byte vectors of each of 8 rows, so that a column of 8 vectors, which ldmatrix
// loads as one matrix, covers all banks.
using Rows = decltype(composition(Swizzle<3, 3, 3>{}, Layout<Shape<_8, _64>, Stride<_64, _1>>{}));

template <class T>
struct Kernel : AsyncStages<T, Rows> {
  using Base = AsyncStages<T, Rows>;
  using typename Base::Smem, typename Base::SmemA, typename Base::SmemB;

  static Kernel make(Gemm const& g, auto const&) { return {Base::Grid::make(g)}; }

  template <class Block>
  CUTE_DEVICE void operator()(Block block, Smem& smem) const {
    auto const here = this->at(block.block_index());
    int const rank = int(block.thread_rank());
    Tensor sA = make_tensor(make_smem_ptr(smem.A), SmemA{});  // (BLK_M,BLK_K,PIPE)
    Tensor sB = make_tensor(make_smem_ptr(smem.B), SmemB{});  // (BLK_N,BLK_K,PIPE)

    auto mma = make_tiled_mma(MMA_Atom<On<Block, Mma<T>>>{}, Layout<Shape<_2, _2, _1>>{}, Tile<_32, _32, _16>{});
    auto thr_mma = mma.get_slice(rank);
    Copy_Atom<On<Block, SM75_U32x4_LDSM_N>, T> ldmatrix;
    auto read_A = make_tiled_copy_A(ldmatrix, mma);
    auto read_B = make_tiled_copy_B(ldmatrix, mma);
    Tensor tXsA = read_A.get_slice(rank).partition_S(sA);             // (CPY,CPY_M,CPY_K,PIPE)
    Tensor tXsB = read_B.get_slice(rank).partition_S(sB);             // (CPY,CPY_N,CPY_K,PIPE)
    Tensor tCrA = thr_mma.partition_fragment_A(sA(_, _, 0));          // (MMA,MMA_M,MMA_K)
    Tensor tCrB = thr_mma.partition_fragment_B(sB(_, _, 0));          // (MMA,MMA_N,MMA_K)
    Tensor tCrD = partition_fragment_C(mma, typename Base::TileD{});  // (MMA,MMA_M,MMA_N)
    Tensor tXrA = read_A.get_slice(rank).retile_D(tCrA);              // (CPY,CPY_M,CPY_K)
    Tensor tXrB = read_B.get_slice(rank).retile_D(tCrB);              // (CPY,CPY_N,CPY_K)
    auto read = [&](int stage, int k) {
      copy(read_A, tXsA(_, _, k, stage), tXrA(_, _, k));
      copy(read_B, tXsB(_, _, k, stage), tXrB(_, _, k));
    };
    clear(tCrD);
    auto multiply = [&](int stage) {
      read(stage, 0);
      CUTE_UNROLL
      for (int k = 0; k < size<2>(tCrA); ++k) {
        if (k + 1 < size<2>(tCrA)) read(stage, k + 1);
        gemm(mma, tCrA(_, _, k), tCrB(_, _, k), tCrD);
      }
    };
    this->for_each_stage(
        block, here, sA, sB, [] {}, multiply);
    this->store(block, here, mma, tCrD);
  }
};
using Dispatch = ByHalfType<Kernel>;

inline constexpr Info<Gemm> info = {
    .name = "hgemm_02_ldmatrix",
    .idea =
        "Three stages of 128x64 in swizzled shared memory, filled by cp.async; ldmatrix loads fragments without bank "
        "conflicts; all operands pass through registers.",
    .source = "inlay",
    .ladder = Ladder::hgemm,
    .origin = Origin::ours,
    .rejects = Dispatch::rejects,
};

}  // namespace inlay::kernels::hgemm_02_ldmatrix
