// Tiles in swizzled shared memory, filled by cp.async in three stages; ldmatrix loads the fragments.
#pragma once
#include <inlay/kernels/gemm/tensor/mma.h>

namespace inlay::kernels::hgemm_02_ldmatrix {

template <class T>
struct Kernel : GemmGrid<128, 128, T> {
  using Grid = GemmGrid<128, 128, T>;
  static constexpr int BLK_M = 128, BLK_N = 128, BLK_K = 64, PIPE = 3;
  static constexpr LaunchInfo launch_info{.threads = 128, .min_blocks = 2};
  // Rows of 128 bytes. The 16-byte vectors of eight rows change places, so that a column of eight vectors, which ldmatrix
  // loads at once, lies in all banks.
  using Rows = decltype(composition(Swizzle<3, 3, 3>{}, Layout<Shape<_8, Int<BLK_K>>, Stride<Int<BLK_K>, _1>>{}));
  using SmemA = decltype(tile_to_shape(Rows{}, Shape<Int<BLK_M>, Int<BLK_K>, Int<PIPE>>{}));  // (BLK_M,BLK_K,PIPE)
  using SmemB = decltype(tile_to_shape(Rows{}, Shape<Int<BLK_N>, Int<BLK_K>, Int<PIPE>>{}));  // (BLK_N,BLK_K,PIPE)
  struct Smem {
    alignas(1024) T A[cosize_v<SmemA>];
    alignas(1024) T B[cosize_v<SmemB>];
    static void members(auto name) { name("A", &Smem::A), name("B", &Smem::B); }
  };

  static Kernel make(Gemm const& g, auto const&) { return {Grid::make(g)}; }
  static Reason rejects(Gemm const& g, Device const& device) {
    if (Reason r = Grid::rejects(g, device)) return r;
    if (g.K() == 0 || g.elements() == 0) return {};
    if (Reason r = rejects_vectors_along_k<T>(g, g.A)) return r;
    return rejects_vectors_along_k<T>(g, g.B);
  }

  template <class Block>
  CUTE_DEVICE void operator()(Block block, Smem& smem) const {
    Gemm const& g = this->g;
    auto const here = this->at(block.block_index());
    int const rank = int(block.thread_rank());
    Tensor sA = make_tensor(make_smem_ptr(smem.A), SmemA{});  // (BLK_M,BLK_K,PIPE)
    Tensor sB = make_tensor(make_smem_ptr(smem.B), SmemB{});  // (BLK_N,BLK_K,PIPE)
    Tensor gD = make_tensor(make_gmem_ptr(here.D), Shape<Int<BLK_M>, Int<BLK_N>>{},
                            make_stride(g.D.row_stride, g.D.col_stride));  // (BLK_M,BLK_N)

    auto mma = make_tiled_mma(MMA_Atom<On<Block, Mma<T>>>{}, Layout<Shape<_2, _2, _1>>{}, Tile<_32, _32, _16>{});
    auto thr_mma = mma.get_slice(rank);
    Copy_Atom<On<Block, SM75_U32x4_LDSM_N>, T> ldmatrix;
    auto read_A = make_tiled_copy_A(ldmatrix, mma);
    auto read_B = make_tiled_copy_B(ldmatrix, mma);
    Tensor tXsA = read_A.get_slice(rank).partition_S(sA);     // (CPY,CPY_M,CPY_K,PIPE)
    Tensor tXsB = read_B.get_slice(rank).partition_S(sB);     // (CPY,CPY_N,CPY_K,PIPE)
    Tensor tCrA = thr_mma.partition_fragment_A(sA(_, _, 0));  // (MMA,MMA_M,MMA_K)
    Tensor tCrB = thr_mma.partition_fragment_B(sB(_, _, 0));  // (MMA,MMA_N,MMA_K)
    Tensor tCrD = thr_mma.partition_fragment_C(gD);           // (MMA,MMA_M,MMA_N)
    Tensor tXrA = read_A.get_slice(rank).retile_D(tCrA);      // (CPY,CPY_M,CPY_K)
    Tensor tXrB = read_B.get_slice(rank).retile_D(tCrB);      // (CPY,CPY_N,CPY_K)
    auto read = [&](int stage, int k) {
      copy(read_A, tXsA(_, _, k, stage), tXrA(_, _, k));
      copy(read_B, tXsB(_, _, k, stage), tXrB(_, _, k));
    };

    AsyncTiles<Block, T, SmemA> fill_A(block, here.A, g.A.row_stride, here.rows, here.K, sA);
    AsyncTiles<Block, T, SmemB> fill_B(block, here.B, g.B.row_stride, here.cols, here.K, sB);
    auto fill = [&](int stage) {
      fill_A.next(stage), fill_B.next(stage);
      block.cp_async_fence();
    };
    CUTE_UNROLL
    for (int stage = 0; stage < PIPE - 1; ++stage) fill(stage);
    clear(tCrD);
    int full = 0, empty = PIPE - 1;
    for (int64_t k = 0; k < here.K; k += BLK_K) {
      block.cp_async_wait(Int<PIPE - 2>{});  // the oldest stage has arrived: this thread's part
      block.sync();  // that of all threads, and all threads have read the stage that is filled next
      fill(empty);
      read(full, 0);
      CUTE_UNROLL
      for (int i = 0; i < size<2>(tCrA); ++i) {
        if (i + 1 < size<2>(tCrA)) read(full, i + 1);
        gemm(mma, tCrA(_, _, i), tCrB(_, _, i), tCrD);
      }
      full = full + 1 == PIPE ? 0 : full + 1;
      empty = empty + 1 == PIPE ? 0 : empty + 1;
    }
    block.cp_async_wait(Int<0>{});
    store_fragment<Block, T>(block, g, mma, gD, tCrD, here.rows, here.cols);
  }
};
using Dispatch = ByHalfType<Kernel>;

inline constexpr Info<Gemm> info = {
    .name = "hgemm_02_ldmatrix",
    .idea =
        "Three stages of 128x64 in swizzled shared memory, filled by cp.async; ldmatrix loads fragments without bank "
        "conflicts; mma.sync reaches two thirds of what the tensor cores can.",
    .source = "worklog, last words: tensor cores",
    .ladder = Ladder::hgemm,
    .origin = Origin::ours,
    .rejects = Dispatch::rejects,
};

}  // namespace inlay::kernels::hgemm_02_ldmatrix
