// What a kernel body may touch. Bodies are templates over a Block, which speaks the vocabulary of cooperative groups:
//
//   thread_rank()  block_index()                 who am I (grids are one-dimensional)
//   sync()  sync(Int<id>{}, Int<threads>{})      all threads of the block; `threads` of them, at barrier 1 to 15
//   syncwarp()                                  the threads of a warp
//   shfl(x, lane)  shfl_up, shfl_down(x, n)  shfl_xor(x, mask)    what another lane of the warp has, 4 or 8 bytes; all its
//   any(p)  all(p)  ballot(p)                    lanes come, and no memory is ordered
//   atomic_add, atomic_min, atomic_max(p, x)  atomic_fetch_add, atomic_exchange(p, x)  atomic_cas(p, expected, x)
//                                                of global or shared memory, relaxed; the last three return what was there; a
//                                                last argument of false: not this lane
//   cp_async_fence()  cp_async_wait(Int<N>{})    commit a group of cp.async; wait until at most N groups are in flight
//   Mbarrier: init, arrive_and_expect_tx, wait   an 8-byte barrier in shared memory; fence_barrier_init()
//   tma_load (with an L2 hint), tma_store, tma_store_commit, fence_proxy_async()
//   tma_store_wait_read(Int<N>{})  tma_store_wait(Int<N>{})    until of all groups but N shared memory is read; global memory
//                                                is written, which the end of the kernel waits for anyway
//   setmaxnreg_inc(Int<n>{})  setmaxnreg_dec(Int<n>{})    of each thread of this warpgroup, where the launch allows it
//   sync_cluster(Int<threads>{})  map_shared_rank(p, rank)  all threads of the cluster that have not exited, `threads` in each block; the
//                                                place of p in the shared memory of another block (for LoadCluster)
//   griddep_launch_dependents()  griddep_wait()  the next one may be launched, if it `follows`; which then waits before it reads
//                                                or writes anything
//   release(flag, value)  acquire(flag, value)   a word of global memory: one thread publishes what its block has written
//                                                (sync() before); one thread waits for the value (sync() after). Blocks
//                                                wait for lower blocks alone.
//
// On the GPU each is the plain instruction (device_block.h); on the CPU the replay's (replay/host_block.h).
#pragma once
#include <cutlass/fast_math.h>

#include <concepts>
#include <cstdint>
#include <cute/tensor.hpp>

#include <inlay/block/tensor_map.h>

namespace inlay::block {

// The instruction on the GPU, its recording double on the CPU.
template <class Block, class Op>
using On = typename Block::template op<Op>;

// Copies one access from one pointer to another under a predicate.
template <class Atom, class From, class To>
CUTE_HOST_DEVICE void copy_one(Atom const& atom, bool on, From from, To to) {
  cute::Tensor p = cute::make_tensor<bool>(cute::_1{});
  p(0) = on;
  cute::copy_if(atom, p, cute::make_tensor(from, cute::Layout<cute::_1>{}),
                cute::make_tensor(to, cute::Layout<cute::_1>{}));
}

// What shuffles carry, and what is changed atomically: min, max and cas take integers.
template <class X>
concept Shuffled = std::is_arithmetic_v<X> &&(sizeof(X) == 4 || sizeof(X) == 8);
template <class X>
concept AtomicInteger = std::same_as<X, int> || std::same_as<X, unsigned> || std::same_as<X, unsigned long long>;
template <class X>
concept AtomicNumber = AtomicInteger<X> || std::same_as<X, float> || std::same_as<X, double>;

// What the L2 should do with what a TMA load brings.
enum class L2 { normal, evict_last };

// d = a * b + c of one thread, kept where it stands: the order of an outer product decides which operands are reused, and
// the compiler has an order of its own.
struct OrderedFma {
  CUTE_HOST_DEVICE static void fma(float& d, float a, float b) {
#ifdef __CUDA_ARCH__
    asm volatile("fma.rn.f32 %0, %1, %2, %0;" : "+f"(d) : "f"(a), "f"(b));
#else
    d = __builtin_fmaf(a, b, d);
#endif
  }
};

template <class Op>
inline constexpr bool is_cp_async = false;
template <class... A>
inline constexpr bool is_cp_async<cute::SM80_CP_ASYNC_CACHEALWAYS<A...>> = true;
template <class... A>
inline constexpr bool is_cp_async<cute::SM80_CP_ASYNC_CACHEGLOBAL<A...>> = true;
template <class... A>
inline constexpr bool is_cp_async<cute::SM80_CP_ASYNC_CACHEALWAYS_ZFILL<A...>> = true;
template <class... A>
inline constexpr bool is_cp_async<cute::SM80_CP_ASYNC_CACHEGLOBAL_ZFILL<A...>> = true;
// Those that go past the L1.
template <class Op>
inline constexpr bool past_l1 = false;
template <class... A>
inline constexpr bool past_l1<cute::SM80_CP_ASYNC_CACHEGLOBAL<A...>> = true;
template <class... A>
inline constexpr bool past_l1<cute::SM80_CP_ASYNC_CACHEGLOBAL_ZFILL<A...>> = true;
// What CuTe predicates by ZFILL: of a lane that is off nothing is read, zeros are written.
template <class Op>
inline constexpr bool zeros_where_off = is_cp_async<Op>;

// Sixteen bytes moved at once. A scalar to the compiler, so it stays one access: a store of a struct of two halves, such
// as cute::uint128_t, was seen split into two of 8 bytes.
using Vector16 = unsigned __int128;

}  // namespace inlay::block
