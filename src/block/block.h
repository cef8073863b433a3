// What a kernel body may touch. Bodies are templates over a Block, which speaks the vocabulary of cooperative groups:
//
//   thread_rank()  group_index()                 who am I (grids are one-dimensional)
//   sync()                                       all threads of the block
//   cp_async_fence()  cp_async_wait(Int<N>{})    commit a group of cp.async; wait until at most N groups are in flight
//   Mbarrier: init, arrive_and_expect_tx, wait   an 8-byte barrier in shared memory; fence_barrier_init()
//   tma_load (with an L2 hint), tma_store, tma_store_commit, tma_store_wait(Int<N>{}), fence_async()
//
// On the GPU each is the plain instruction (device_block.h); on the CPU the replay's (replay/host_block.h).
#pragma once
#include <cutlass/fast_math.h>

#include <bit>
#include <cstdint>
#include <cute/tensor.hpp>
#include <tuple>

#include "block/tensor_map.h"

namespace inlay {

// The instruction on the GPU, its recording double on the CPU.
template <class Block, class Op>
using On = typename Block::template op<Op>;

// What the L2 should do with what a TMA load brings.
enum class L2 { normal, evict_last };

template <class Op>
inline constexpr bool is_cp_async = false;
template <class... A>
inline constexpr bool is_cp_async<cute::SM80_CP_ASYNC_CACHEALWAYS<A...>> = true;
template <class... A>
inline constexpr bool is_cp_async<cute::SM80_CP_ASYNC_CACHEGLOBAL<A...>> = true;

// Sixteen bytes moved at once. A scalar to the compiler, so it stays one access: a store of a struct of two halves, such
// as cute::uint128_t, was seen split into two of 8 bytes.
using Vector16 = unsigned __int128;

// The carrier of an element of E bytes: movement knows sizes, not types.
template <int E>
using Bytes =
    std::tuple_element_t<std::countr_zero(unsigned(E)),
                         std::tuple<std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t, cute::uint128_t>>;

// Calls f(Bytes<E>{}) for the element size of a move.
template <class F>
void with_element(int elem_bytes, F f) {
  switch (elem_bytes) {
    case 1:
      return f(Bytes<1>{});
    case 2:
      return f(Bytes<2>{});
    case 4:
      return f(Bytes<4>{});
    case 8:
      return f(Bytes<8>{});
    case 16:
      return f(Bytes<16>{});
  }
}

}  // namespace inlay
