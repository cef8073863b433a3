// The operations of a kernel body. A body is a template over a Block: DeviceBlock (device_block.h) executes the
// instructions on a GPU, HostBlock (replay/host_block.h) records and checks them on the CPU. Copies and multiply-adds
// are CuTe operations, named On<Block, Op>; all else is a member of Block. Int<n> is a compile-time constant; "all
// lanes" are the threads of a warp.
//
//   operation                              PTX instruction or CUDA name      who calls it
//
//   thread_rank()                          threadIdx.x                       any thread
//   block_index()                          blockIdx.x                        any thread; grids are one-dimensional
//   gmem(p)                                make_gmem_ptr of CuTe             any thread. A kernel that takes lists of
//                                                                            copies (kernels/common/listed.h) accesses
//                                                                            global memory through it alone
//
//   sync()                                 __syncthreads                     all threads of the block that have not
//                                                                            exited
//   sync(Int<id>, Int<threads>)            bar.sync id, threads              whole warps, `threads` threads in total;
//                                                                            id is 1 to 15
//   syncwarp()                             __syncwarp                        all lanes
//   sync_cluster(Int<threads>)             barrier.cluster.arrive, .wait     all threads of the cluster that have not
//                                                                            exited, `threads` of each block
//
//   shfl(x, lane)  shfl_xor(x, mask)       __shfl_sync, _xor, _up, _down     all lanes; x has 4 or 8 bytes. Shuffles
//   shfl_up(x, n)  shfl_down(x, n)                                           and votes order no memory accesses
//   any(p)  all(p)  ballot(p)              __any_sync, __all_sync,           all lanes
//                                          __ballot_sync
//
//   atomic_add(p, x, on = true)            atomicAdd, atomicMin, atomicMax   all lanes; those with `on` change *p in
//   atomic_min(p, x, on = true)                                              global or shared memory, in relaxed order
//   atomic_max(p, x, on = true)
//   atomic_fetch_add(p, x, on = true)      atomicAdd, atomicExch, atomicCAS  likewise; returns the previous value, X{}
//   atomic_exchange(p, x, on = true)                                         to a lane that is off
//   atomic_cas(p, expected, x, on = true)
//
//   cp_async_fence()                       cp.async.commit_group             any thread, for its own cp.async copies
//   cp_async_wait(Int<N>)                  cp.async.wait_group N             any thread: at most N of its groups are
//                                                                            still in flight
//
//   Mbarrier::init(count)                  mbarrier.init                     one thread; an Mbarrier is 8 bytes of
//                                                                            shared memory
//   fence_barrier_init()                   fence.mbarrier_init               the thread that called init(), afterwards
//   Mbarrier::arrive()                     mbarrier.arrive                   `count` threads in each phase, each with
//                                                                            one of the two calls
//   Mbarrier::arrive(rank)                 mapa, mbarrier.arrive of          any thread: arrives at the mbarrier at the
//                                          shared::cluster                   same offset in block `rank` of the
//                                                                            cluster
//   Mbarrier::arrive_and_expect_tx(bytes)  mbarrier.arrive.expect_tx
//   Mbarrier::wait(parity)                 mbarrier.try_wait.parity, in a    any thread
//                                          loop
//
//   prefetch(map)                          prefetch.tensormap                any thread: loads the descriptor before
//                                                                            its first use
//   tma_load(map, mbarrier, smem, c0, c1,  cp.async.bulk.tensor.3d,          one thread; c0, c1, c2 are coordinates in
//            c2, hint)                     mbarrier completion               elements of the tensor that `map`
//                                                                            describes
//   tma_load_multicast(map, mbarrier,      the same with                     one thread; the box arrives at the same
//            smem, c0, c1, c2, ranks)      .multicast::cluster               offsets in the shared memory of each block
//                                                                            of the cluster whose bit is set in
//                                                                            `ranks`, and counts at the mbarrier of
//                                                                            each
//   tma_store(map, smem, c0, c1, c2)       cp.async.bulk.tensor.3d, bulk     one thread; it writes 16 bytes at a time,
//                                          group completion                  past the end of a row of the tensor too
//   tma_store_commit()                     cp.async.bulk.commit_group        the thread that called tma_store
//   tma_store_wait_read(Int<N>)            cp.async.bulk.wait_group.read N   the same thread: all but its last N groups
//                                                                            have read shared memory
//   tma_store_wait(Int<N>)                 cp.async.bulk.wait_group N        the same thread: all but its last N groups
//                                                                            have written global memory, which the end
//                                                                            of the kernel waits for as well
//   fence_proxy_async()                    fence.proxy.async.shared::cta     a thread that has stored to shared memory,
//                                                                            or that has passed a barrier after such
//                                                                            stores, before TMA accesses the bytes
//
//   wgmma_fence()                          wgmma.fence                       all threads of a warpgroup, before wgmma
//                                                                            instructions that access registers which
//                                                                            the thread has accessed
//   wgmma_commit()                         wgmma.commit_group                the same threads
//   wgmma_wait(Int<N>)                     wgmma.wait_group N                the same threads: all but the last N
//                                                                            groups have read their operands and
//                                                                            written their accumulators
//
//   peer(p, rank)                          mapa.shared::cluster              any thread; returns the address of p in
//                                                                            the shared memory of block `rank` of the
//                                                                            cluster, for LoadCluster (quad_ops.h)
//   setmaxnreg_inc(Int<n>)                 setmaxnreg.inc, setmaxnreg.dec    all threads of a warpgroup; n is a
//   setmaxnreg_dec(Int<n>)                                                   multiple of 8, from 24 to 240
//
//   griddep_launch_dependents()            griddepcontrol.launch_dependents  any thread; the next kernel may start if
//                                                                            its launch_info has `follows`
//   griddep_wait()                         griddepcontrol.wait               threads of a kernel with `follows`, before
//                                                                            they access global memory
//   release(flag, value)                   fence.acq_rel.gpu,                one thread, after sync(): publishes what
//                                          st.relaxed.gpu                    its block has written to global memory
//   acquire(flag, value)                   ld.relaxed.gpu in a loop,         one thread, then sync(): waits until *flag
//                                          fence.acq_rel.gpu                 is `value`. Blocks wait for blocks of
//                                                                            lower index only
#pragma once
#include <cutlass/fast_math.h>

#include <concepts>
#include <cstdint>
#include <cute/tensor.hpp>

#include <inlay/block/tensor_map.h>

namespace inlay::block {

// The operation Op on the GPU; on the CPU, the type that executes and records Op.
template <class Block, class Op>
using On = typename Block::template op<Op>;

// Copies one element of the atom's type from *from to *to if `on`. All lanes of a warp call it, also those that are
// off.
template <class Atom, class From, class To>
CUTE_HOST_DEVICE void copy_one(Atom const& atom, bool on, From from, To to) {
  cute::Tensor p = cute::make_tensor<bool>(cute::_1{});
  p(0) = on;
  cute::copy_if(atom, p, cute::make_tensor(from, cute::Layout<cute::_1>{}),
                cute::make_tensor(to, cute::Layout<cute::_1>{}));
}

// Returns x as a value whose origin the compiler does not know: values computed from it after a loop are not moved
// before the loop, where they would occupy registers.
CUTE_HOST_DEVICE int behind_loop(int x) {
#ifdef __CUDA_ARCH__
  asm volatile("" : "+r"(x));
#endif
  return x;
}

// Operand types of shuffles (4 or 8 bytes), of atomic_min, atomic_max and atomic_cas (integers), of the other atomics
// (numbers).
template <class X>
concept Shuffled = std::is_arithmetic_v<X> &&(sizeof(X) == 4 || sizeof(X) == 8);
template <class X>
concept AtomicInteger = std::same_as<X, int> || std::same_as<X, unsigned> || std::same_as<X, unsigned long long>;
template <class X>
concept AtomicNumber = AtomicInteger<X> || std::same_as<X, float> || std::same_as<X, double>;

// L2 eviction priority of the sectors that a TMA load reads.
enum class L2 { normal, evict_last };

// d += a * b of one thread. The instruction is volatile, so that the compiler keeps the order of the source: the order
// of an outer product decides which operands are reused.
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
// cp.async.cg: copies through the L2 only.
template <class Op>
inline constexpr bool bypasses_l1 = false;
template <class... A>
inline constexpr bool bypasses_l1<cute::SM80_CP_ASYNC_CACHEGLOBAL<A...>> = true;
template <class... A>
inline constexpr bool bypasses_l1<cute::SM80_CP_ASYNC_CACHEGLOBAL_ZFILL<A...>> = true;
// A lane whose predicate is false reads nothing and writes zeros. CuTe predicates cp.async by its ZFILL form.
template <class Op>
inline constexpr bool zero_fills_when_off = is_cp_async<Op>;

// 16 bytes that are loaded and stored with one instruction. The type is a scalar because nvcc was seen to split the
// store of a struct of two halves, such as cute::uint128_t, into two stores of 8 bytes.
using Vector16 = unsigned __int128;

}  // namespace inlay::block
