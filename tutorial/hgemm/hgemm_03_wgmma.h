// wgmma instead of mma.sync: a warpgroup multiplies tiles directly from shared memory.
#pragma once
#include <inlay/kernels/gemm/tensor/mma.h>

namespace inlay::kernels::hgemm_03_wgmma {

template <class T>
struct Kernel : AsyncStages<T, GMMA::Layout_K_SW128_Atom<T>> {  // wgmma's 128-byte swizzle
  using Base = AsyncStages<T, GMMA::Layout_K_SW128_Atom<T>>;
  using typename Base::Smem, typename Base::SmemA, typename Base::SmemB;

  static Kernel make(Gemm const& g, auto const&) { return {Base::Grid::make(g)}; }
  static Reason rejects(Gemm const& g, Device const& device) {
    if (Reason r = rejects_wgmma(device)) return r;
    return Base::rejects(g, device);
  }

  template <class Block>
  CUTE_DEVICE void operator()(Block block, Smem& smem) const {
    auto const here = this->at(block.block_index());
    Tensor sA = make_tensor(make_smem_ptr(smem.A), SmemA{});  // (BLK_M,BLK_K,PIPE)
    Tensor sB = make_tensor(make_smem_ptr(smem.B), SmemB{});  // (BLK_N,BLK_K,PIPE)

    auto mma = make_tiled_mma(MMA_Atom<On<Block, Wgmma<T, Base::BLK_N>>>{});
    auto thr_mma = mma.get_slice(int(block.thread_rank()));
    Tensor tCrA = thr_mma.make_fragment_A(thr_mma.partition_A(sA));   // (MMA,MMA_M,MMA_K,PIPE), descriptors
    Tensor tCrB = thr_mma.make_fragment_B(thr_mma.partition_B(sB));   // (MMA,MMA_N,MMA_K,PIPE), descriptors
    Tensor tCrD = partition_fragment_C(mma, typename Base::TileD{});  // (MMA,MMA_M,MMA_N)
    clear(tCrD);
    // cp.async writes through the generic proxy, and wgmma reads through the async proxy.
    auto landed = [&] { block.fence_proxy_async(); };
    auto multiply = [&](int stage) {
      warpgroup_fence_operand(tCrD);
      block.wgmma_fence();
      gemm(mma, tCrA(_, _, _, stage), tCrB(_, _, _, stage), tCrD);
      block.wgmma_commit();
      block.wgmma_wait(Int<0>{});
      warpgroup_fence_operand(tCrD);
    };
    this->for_each_stage(block, here, sA, sB, landed, multiply);
    this->store(block, here, mma, tCrD);
  }
};
using Dispatch = ByHalfType<Kernel>;

inline constexpr Info<Gemm> info = {
    .name = "hgemm_03_wgmma",
    .idea =
        "One warpgroup multiplies 64x128x16 an instruction, both operands read from shared memory by the tensor cores; "
        "each stage waits for the one before, and the copies take issue slots.",
    .source = "inlay",
    .ladder = Ladder::hgemm,
    .origin = Origin::ours,
    .rejects = Dispatch::rejects,
};

}  // namespace inlay::kernels::hgemm_03_wgmma
