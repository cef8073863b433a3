// The device side of the vocabulary: an empty struct whose members are the plain instructions.
#pragma once
#include <cutlass/arch/barrier.h>

#include "block/block.h"

namespace inlay {

struct DeviceBlock {
  template <class Op>
  using op = Op;
  using Mbarrier = cutlass::arch::ClusterTransactionBarrier;

  CUTE_DEVICE static unsigned thread_rank() { return threadIdx.x; }
  CUTE_DEVICE static unsigned group_index() { return blockIdx.x; }
  CUTE_DEVICE static void sync() { __syncthreads(); }

  CUTE_DEVICE static void cp_async_fence() { cute::cp_async_fence(); }
  template <int N>
  CUTE_DEVICE static void cp_async_wait(cute::Int<N>) {
    cute::cp_async_wait<N>();
  }

  CUTE_DEVICE static void tma_load(CUtensorMap const& map, Mbarrier& full, void* smem, int c0, int c1, int c2,
                                   L2 hint = L2::normal) {
    auto const policy =
        hint == L2::evict_last ? cute::TMA::CacheHintSm90::EVICT_LAST : cute::TMA::CacheHintSm90::EVICT_NORMAL;
    cute::SM90_TMA_LOAD_3D::copy(&map, reinterpret_cast<std::uint64_t*>(&full), std::uint64_t(policy), smem, c0, c1,
                                 c2);
  }
  CUTE_DEVICE static void tma_store(CUtensorMap const& map, void const* smem, int c0, int c1, int c2) {
    cute::SM90_TMA_STORE_3D::copy(&map, smem, c0, c1, c2);
  }
  CUTE_DEVICE static void tma_store_commit() { cute::tma_store_arrive(); }
  template <int N>
  CUTE_DEVICE static void tma_store_wait(cute::Int<N>) {
    cute::tma_store_wait<N>();
  }
  CUTE_DEVICE static void fence_async() { cute::tma_store_fence(); }  // fence.proxy.async
  CUTE_DEVICE static void fence_barrier_init() { cutlass::arch::fence_barrier_init(); }
};

}  // namespace inlay
