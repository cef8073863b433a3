// The operations of block.h on a GPU. The struct is empty: each member is the instruction that the table in block.h
// names.
#pragma once
#include <cutlass/arch/barrier.h>
#include <cutlass/arch/reg_reconfig.h>

#include <inlay/block/block.h>

namespace inlay::block {

struct DeviceBlock {
  template <class Op>
  using op = Op;
  using Mbarrier = cutlass::arch::ClusterTransactionBarrier;

  CUTE_DEVICE static unsigned thread_rank() { return threadIdx.x; }
  CUTE_DEVICE static unsigned block_index() { return blockIdx.x; }
  template <class T>
  CUTE_DEVICE static auto gmem(T* p) {
    return cute::make_gmem_ptr(p);
  }
  CUTE_DEVICE static void sync() { __syncthreads(); }
  template <int Id, int Threads>
  CUTE_DEVICE static void sync(cute::Int<Id>, cute::Int<Threads>) {
    static_assert(Id >= 1 && Id <= 15 && Threads % 32 == 0);
    asm volatile("bar.sync %0, %1;" ::"n"(Id), "n"(Threads) : "memory");
  }
  CUTE_DEVICE static void syncwarp() { __syncwarp(); }

  static constexpr unsigned kAllLanes = 0xFFFFFFFF;
  template <Shuffled X>
  CUTE_DEVICE static X shfl(X x, int lane) {
    return __shfl_sync(kAllLanes, x, lane);
  }
  template <Shuffled X>
  CUTE_DEVICE static X shfl_up(X x, int n) {
    return __shfl_up_sync(kAllLanes, x, unsigned(n));
  }
  template <Shuffled X>
  CUTE_DEVICE static X shfl_down(X x, int n) {
    return __shfl_down_sync(kAllLanes, x, unsigned(n));
  }
  template <Shuffled X>
  CUTE_DEVICE static X shfl_xor(X x, int mask) {
    return __shfl_xor_sync(kAllLanes, x, mask);
  }
  CUTE_DEVICE static bool any(bool p) { return __any_sync(kAllLanes, p); }
  CUTE_DEVICE static bool all(bool p) { return __all_sync(kAllLanes, p); }
  CUTE_DEVICE static unsigned ballot(bool p) { return __ballot_sync(kAllLanes, p); }

  template <AtomicNumber X>
  CUTE_DEVICE static void atomic_add(X* p, X x, bool on = true) {
    if (on) atomicAdd(p, x);
  }
  template <AtomicInteger X>
  CUTE_DEVICE static void atomic_min(X* p, X x, bool on = true) {
    if (on) atomicMin(p, x);
  }
  template <AtomicInteger X>
  CUTE_DEVICE static void atomic_max(X* p, X x, bool on = true) {
    if (on) atomicMax(p, x);
  }
  template <AtomicNumber X>
  CUTE_DEVICE static X atomic_fetch_add(X* p, X x, bool on = true) {
    return on ? atomicAdd(p, x) : X{};
  }
  template <AtomicNumber X>
  CUTE_DEVICE static X atomic_exchange(X* p, X x, bool on = true) {
    if constexpr (std::same_as<X, double>)  // atomicExch takes no double: exchanges its bits
      return on ? __longlong_as_double((long long)atomicExch(reinterpret_cast<unsigned long long*>(p),
                                                             (unsigned long long)__double_as_longlong(x)))
                : X{};
    else
      return on ? atomicExch(p, x) : X{};
  }
  template <AtomicInteger X>
  CUTE_DEVICE static X atomic_cas(X* p, X expected, X x, bool on = true) {
    return on ? atomicCAS(p, expected, x) : X{};
  }

  CUTE_DEVICE static void cp_async_fence() { cute::cp_async_fence(); }
  template <int N>
  CUTE_DEVICE static void cp_async_wait(cute::Int<N>) {
    cute::cp_async_wait<N>();
  }

  CUTE_DEVICE static void prefetch(CUtensorMap const& map) {
    cute::prefetch_tma_descriptor(reinterpret_cast<cute::TmaDescriptor const*>(&map));
  }
  CUTE_DEVICE static void tma_load(CUtensorMap const& map, Mbarrier& full, void* smem, int c0, int c1, int c2,
                                   L2 hint = L2::normal) {
    auto const policy =
        hint == L2::evict_last ? cute::TMA::CacheHintSm90::EVICT_LAST : cute::TMA::CacheHintSm90::EVICT_NORMAL;
    cute::SM90_TMA_LOAD_3D::copy(&map, reinterpret_cast<std::uint64_t*>(&full), std::uint64_t(policy), smem, c0, c1,
                                 c2);
  }
  // `ranks`: a bit for each block of the cluster.
  CUTE_DEVICE static void tma_load_multicast(CUtensorMap const& map, Mbarrier& full, void* smem, int c0, int c1, int c2,
                                             unsigned ranks) {
    cute::SM90_TMA_LOAD_MULTICAST_3D::copy(&map, reinterpret_cast<std::uint64_t*>(&full), std::uint16_t(ranks),
                                           std::uint64_t(cute::TMA::CacheHintSm90::EVICT_NORMAL), smem, c0, c1, c2);
  }
  CUTE_DEVICE static void tma_store(CUtensorMap const& map, void const* smem, int c0, int c1, int c2) {
    cute::SM90_TMA_STORE_3D::copy(&map, smem, c0, c1, c2);
  }
  CUTE_DEVICE static void tma_store_commit() { cute::tma_store_arrive(); }
  template <int N>
  CUTE_DEVICE static void tma_store_wait_read(cute::Int<N>) {
    cute::tma_store_wait<N>();  // cp.async.bulk.wait_group.read
  }
  template <int N>
  CUTE_DEVICE static void tma_store_wait(cute::Int<N>) {
    asm volatile("cp.async.bulk.wait_group %0;" ::"n"(N) : "memory");
  }
  CUTE_DEVICE static void fence_proxy_async() { cute::tma_store_fence(); }  // fence.proxy.async.shared::cta

  CUTE_DEVICE static void wgmma_fence() { cute::warpgroup_arrive(); }  // wgmma.fence
  CUTE_DEVICE static void wgmma_commit() { cute::warpgroup_commit_batch(); }
  template <int N>
  CUTE_DEVICE static void wgmma_wait(cute::Int<N>) {
    cute::warpgroup_wait<N>();
  }

  template <int Threads>
  CUTE_DEVICE static void sync_cluster(cute::Int<Threads>) {
    cute::cluster_sync();
  }
  template <class X>
  CUTE_DEVICE static X const* peer(X const* shared, int rank) {
    std::uint32_t const address = cute::set_block_rank(cute::cast_smem_ptr_to_uint(shared), std::uint32_t(rank));
    return static_cast<X const*>(__cvta_shared_to_generic(address));
  }

  template <int N>
  CUTE_DEVICE static void setmaxnreg_inc(cute::Int<N>) {
    cutlass::arch::warpgroup_reg_alloc<N>();
  }
  template <int N>
  CUTE_DEVICE static void setmaxnreg_dec(cute::Int<N>) {
    cutlass::arch::warpgroup_reg_dealloc<N>();
  }

  CUTE_DEVICE static void griddep_launch_dependents() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;");
#endif
  }
  CUTE_DEVICE static void griddep_wait() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
  }

  CUTE_DEVICE static void release(unsigned* flag, unsigned value) {
    asm volatile("fence.acq_rel.gpu;\n\tst.relaxed.gpu.global.u32 [%0], %1;" ::"l"(flag), "r"(value) : "memory");
  }
  CUTE_DEVICE static void acquire(unsigned const* flag, unsigned value) {
    unsigned seen;
    do asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory");
    while (seen != value);
    asm volatile("fence.acq_rel.gpu;" ::: "memory");
  }

  CUTE_DEVICE static void fence_barrier_init() { cutlass::arch::fence_barrier_init(); }
};

}  // namespace inlay::block
