// Loads as CuTe copy operations: with an L2 cache policy, or of 16 bytes in one instruction. Plain C++ does not ensure
// the latter: nvcc was seen to load the two halves of a Vector16 separately where the kernel separates them afterwards.
#pragma once
#include <inlay/block/block.h>

namespace inlay::block {

// Loads from global memory with L2 policy evict_last. Not through the read-only path (.nc): a kernel that is launched
// programmatically may live while the one before it writes what it reads. The number of bytes read from DRAM does not
// change; docs/log.md has the measured gain. S has 4, 8 or 16 bytes, and is Vector16 at 16. Before compute capability
// 8.0 it is a plain load.
template <class S>
struct LoadEvictLast {
  using SRegisters = S[1];
  using DRegisters = S[1];

  static_assert(sizeof(S) == 4 || sizeof(S) == 8 || sizeof(S) == 16);

  CUTE_DEVICE static void copy(S const& src, S& dst) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    std::uint64_t policy;  // not volatile: the compiler keeps one for all loads of a thread
    asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
    if constexpr (sizeof(S) == 16) {
      std::uint64_t lo, hi;
      asm volatile("ld.global.L2::cache_hint.v2.b64 {%0, %1}, [%2], %3;"
                   : "=l"(lo), "=l"(hi)
                   : "l"(__cvta_generic_to_global(&src)), "l"(policy));
      dst = Vector16(hi) << 64 | lo;
    } else if constexpr (sizeof(S) == 8) {
      asm volatile("ld.global.L2::cache_hint.b64 %0, [%1], %2;"
                   : "=l"(dst)
                   : "l"(__cvta_generic_to_global(&src)), "l"(policy));
    } else {
      asm volatile("ld.global.L2::cache_hint.b32 %0, [%1], %2;"
                   : "=r"(dst)
                   : "l"(__cvta_generic_to_global(&src)), "l"(policy));
    }
#else
    dst = src;
#endif
  }
};

// Copies 16 bytes from global to shared memory with cp.async.cg and L2 policy evict_last. A lane whose predicate is
// false does nothing. Unlike CuTe's operation it has no L2 prefetch of 128 bytes, which would read beyond short rows.
// Before compute capability 8.0 it is a load and a store.
struct LoadAsync {
  using SRegisters = Vector16[1];
  using DRegisters = Vector16[1];

  CUTE_DEVICE static void copy(Vector16 const& src, Vector16& dst) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    std::uint64_t policy;  // not volatile: see LoadEvictLast; ptxas 13.0 made an illegal instruction of a volatile one
    asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
    asm volatile(
        "cp.async.cg.shared.global.L2::cache_hint [%0], [%1], 16, %2;" ::"r"(cute::cast_smem_ptr_to_uint(&dst)),
        "l"(__cvta_generic_to_global(&src)), "l"(policy)
        : "memory");
#else
    dst = src;
#endif
  }
};
template <>
inline constexpr bool is_cp_async<LoadAsync> = true;
template <>
inline constexpr bool bypasses_l1<LoadAsync> = true;
template <>
inline constexpr bool zero_fills_when_off<LoadAsync> = false;

// Copies 4 bytes from global to shared memory with cp.async.ca. A lane whose predicate is false does nothing, where
// CuTe's operation writes zeros. Before compute capability 8.0 it is a load and a store.
struct LoadAsyncElement {
  using SRegisters = float[1];
  using DRegisters = float[1];

  CUTE_DEVICE static void copy(float const& src, float& dst) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(cute::cast_smem_ptr_to_uint(&dst)),
                 "l"(__cvta_generic_to_global(&src))
                 : "memory");
#else
    dst = src;
#endif
  }
};
template <>
inline constexpr bool is_cp_async<LoadAsyncElement> = true;
template <>
inline constexpr bool zero_fills_when_off<LoadAsyncElement> = false;

// Loads from global memory. S has 1 to 16 bytes, and is Vector16 at 16.
template <class S>
struct LoadGlobal {
  using SRegisters = S[1];
  using DRegisters = S[1];

  CUTE_DEVICE static void copy(S const& src, S& dst) {
#ifdef __CUDA_ARCH__
    if constexpr (sizeof(S) == 16) {
      std::uint64_t lo, hi;
      asm volatile("ld.global.v2.b64 {%0, %1}, [%2];" : "=l"(lo), "=l"(hi) : "l"(__cvta_generic_to_global(&src)));
      dst = Vector16(hi) << 64 | lo;
      return;
    }
#endif
    dst = src;
  }
};

// Loads from shared memory. 16 bytes are loaded as ulonglong2, for which nvcc emits one instruction.
template <class S>
struct LoadShared {
  using SRegisters = S[1];
  using DRegisters = S[1];

  CUTE_DEVICE static void copy(S const& src, S& dst) {
#ifdef __CUDA_ARCH__
    if constexpr (sizeof(S) == 16) {
      ulonglong2 const v = reinterpret_cast<ulonglong2 const&>(src);
      dst = Vector16(v.y) << 64 | v.x;
      return;
    }
#endif
    dst = src;
  }
};

// Loads from shared memory and zero-extends elements of less than 4 bytes to 32 bits. Without the extension nvcc keeps
// such values in halves of registers and needs two more instructions for each.
template <class S>
struct LoadExtended {
  using Register = std::conditional_t<(sizeof(S) < 4), std::uint32_t, S>;
  using SRegisters = S[1];
  using DRegisters = Register[1];

  CUTE_DEVICE static void copy(S const& src, Register& dst) {
    if constexpr (sizeof(S) < 4)
      dst = src;
    else
      LoadShared<S>::copy(src, dst);
  }
};

}  // namespace inlay::block

// One access of one thread, like UniversalCopy. The traits have no with(bool): CuTe would call it with the predicate.
template <class S>
struct cute::Copy_Traits<inlay::block::LoadEvictLast<S>> : cute::Copy_Traits<cute::UniversalCopy<S>> {};
template <>
struct cute::Copy_Traits<inlay::block::LoadAsync> : cute::Copy_Traits<cute::UniversalCopy<inlay::block::Vector16>> {};
template <>
struct cute::Copy_Traits<inlay::block::LoadAsyncElement> : cute::Copy_Traits<cute::UniversalCopy<float>> {};
template <class S>
struct cute::Copy_Traits<inlay::block::LoadGlobal<S>> : cute::Copy_Traits<cute::UniversalCopy<S>> {};
template <class S>
struct cute::Copy_Traits<inlay::block::LoadExtended<S>> {
  using ThrID = cute::Layout<cute::_1>;
  using SrcLayout = cute::Layout<cute::Shape<cute::_1, cute::Int<8 * sizeof(S)>>>;
  using DstLayout =
      cute::Layout<cute::Shape<cute::_1, cute::Int<8 * sizeof(typename inlay::block::LoadExtended<S>::Register)>>>;
  using RefLayout = SrcLayout;
};
template <class S>
struct cute::Copy_Traits<inlay::block::LoadShared<S>> : cute::Copy_Traits<cute::UniversalCopy<S>> {};
