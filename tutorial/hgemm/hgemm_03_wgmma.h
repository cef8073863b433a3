// wgmma instead of mma.sync: a warpgroup multiplies tiles that it does not load into registers.
#pragma once
#include <inlay/kernels/gemm/tensor/mma.h>

namespace inlay::kernels::hgemm_03_wgmma {

template <class T>
struct Kernel : GemmGrid<128, 128, T> {
  using Grid = GemmGrid<128, 128, T>;
  static constexpr int BLK_M = 128, BLK_N = 128, BLK_K = 64, PIPE = 3;
  static constexpr LaunchInfo launch_info{.threads = 128, .min_blocks = 2};
  using Rows = GMMA::Layout_K_SW128_Atom<T>;  // eight rows of 128 bytes, swizzled as wgmma reads them
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
    if (Reason r = rejects_wgmma(device)) return r;
    if (g.K() == 0 || g.elements() == 0) return {};
    if (Reason r = rejects_vectors_along_k<T>(g, g.A)) return r;
    return rejects_vectors_along_k<T>(g, g.B);
  }

  template <class Block>
  CUTE_DEVICE void operator()(Block block, Smem& smem) const {
    Gemm const& g = this->g;
    auto const here = this->at(block.block_index());
    Tensor sA = make_tensor(make_smem_ptr(smem.A), SmemA{});  // (BLK_M,BLK_K,PIPE)
    Tensor sB = make_tensor(make_smem_ptr(smem.B), SmemB{});  // (BLK_N,BLK_K,PIPE)
    Tensor gD = make_tensor(make_gmem_ptr(here.D), Shape<Int<BLK_M>, Int<BLK_N>>{},
                            make_stride(g.D.row_stride, g.D.col_stride));  // (BLK_M,BLK_N)

    auto mma = make_tiled_mma(MMA_Atom<On<Block, Wgmma<T, BLK_N>>>{});
    auto thr_mma = mma.get_slice(int(block.thread_rank()));
    Tensor tCrA = thr_mma.make_fragment_A(thr_mma.partition_A(sA));  // (MMA,MMA_M,MMA_K,PIPE), descriptors
    Tensor tCrB = thr_mma.make_fragment_B(thr_mma.partition_B(sB));  // (MMA,MMA_N,MMA_K,PIPE), descriptors
    Tensor tCrD = thr_mma.partition_fragment_C(gD);                  // (MMA,MMA_M,MMA_N)

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
    CUTE_NO_UNROLL
    for (int64_t k = 0; k < here.K; k += BLK_K) {
      block.cp_async_wait(Int<PIPE - 2>{});  // this thread's part of the oldest stage has arrived
      block.fence_proxy_async();             // and wgmma, which reads through the async proxy, may see it
      block.sync();                          // so is all of it; and all threads have waited for the last wgmma
      fill(empty);
      warpgroup_fence_operand(tCrD);
      block.wgmma_fence();
      gemm(mma, tCrA(_, _, _, full), tCrB(_, _, _, full), tCrD);
      block.wgmma_commit();
      block.wgmma_wait(Int<0>{});
      warpgroup_fence_operand(tCrD);
      full = full + 1 == PIPE ? 0 : full + 1;
      empty = empty + 1 == PIPE ? 0 : empty + 1;
    }
    block.cp_async_wait(Int<0>{});
    store_fragment<Block, T>(block, g, mma, gD, tCrD, here.rows, here.cols);
  }
};
using Dispatch = ByHalfType<Kernel>;

inline constexpr Info<Gemm> info = {
    .name = "hgemm_03_wgmma",
    .idea =
        "One warpgroup multiplies 64x128x16 an instruction, both operands read from shared memory by the tensor cores; "
        "each stage waits for the one before, and the copies take issue slots.",
    .source = "worklog, last words: tensor cores",
    .ladder = Ladder::hgemm,
    .origin = Origin::ours,
    .rejects = Dispatch::rejects,
};

}  // namespace inlay::kernels::hgemm_03_wgmma
