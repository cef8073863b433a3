// Loads as CuTe copy operations: with a cache policy, and of 16 bytes in one piece. Where the two halves of a Vector16 are
// taken apart afterwards, the compiler was seen to load them one by one.
#pragma once
#include <inlay/block/block.h>

namespace inlay::block {

// A load from global memory whose lines the L2 evicts last. It moves no byte less; presumably the DRAM reads and writes in
// longer bursts (docs/log.md says what it gains). S: 4, 8 or 16 bytes, Vector16 at 16; before Ampere a plain load.
template <class S>
struct LoadEvictLast {
  using SRegisters = S[1];
  using DRegisters = S[1];

  static_assert(sizeof(S) == 4 || sizeof(S) == 8 || sizeof(S) == 16);

  CUTE_DEVICE static void copy(S const& src, S& dst) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    std::uint64_t policy;  // not volatile: one instruction serves all loads of a thread
    asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
    if constexpr (sizeof(S) == 16) {
      std::uint64_t lo, hi;
      asm volatile("ld.global.nc.L2::cache_hint.v2.b64 {%0, %1}, [%2], %3;"
                   : "=l"(lo), "=l"(hi)
                   : "l"(__cvta_generic_to_global(&src)), "l"(policy));
      dst = Vector16(hi) << 64 | lo;
    } else if constexpr (sizeof(S) == 8) {
      asm volatile("ld.global.nc.L2::cache_hint.b64 %0, [%1], %2;"
                   : "=l"(dst)
                   : "l"(__cvta_generic_to_global(&src)), "l"(policy));
    } else {
      asm volatile("ld.global.nc.L2::cache_hint.b32 %0, [%1], %2;"
                   : "=r"(dst)
                   : "l"(__cvta_generic_to_global(&src)), "l"(policy));
    }
#else
    dst = src;
#endif
  }
};

// 16 bytes from global to shared memory past the L1 and the registers; a lane that is predicated off does nothing. CuTe's
// asks the L2 for 128 bytes, which short rows do not want. The L2 evicts them last. Before Ampere a load and a store.
struct LoadAsync {
  using SRegisters = Vector16[1];
  using DRegisters = Vector16[1];

  CUTE_DEVICE static void copy(Vector16 const& src, Vector16& dst) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    std::uint64_t policy;  // not volatile: see above, and ptxas 13.0 was seen to make an illegal instruction of it
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
inline constexpr bool past_l1<LoadAsync> = true;
template <>
inline constexpr bool zeros_where_off<LoadAsync> = false;

// A plain load from global memory. S: 1 to 16 bytes, Vector16 at 16.
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

// From shared memory, by the type that the compiler knows as a vector of two.
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

// From shared memory to a register of 4 bytes and more; the bytes above are zeros. The compiler keeps narrow values in
// halves of registers otherwise, and takes two instructions more for each.
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

// One access of one thread, as UniversalCopy's. No `with` of one argument: CuTe would hand it the predicate.
template <class S>
struct cute::Copy_Traits<inlay::block::LoadEvictLast<S>> : cute::Copy_Traits<cute::UniversalCopy<S>> {};
template <>
struct cute::Copy_Traits<inlay::block::LoadAsync> : cute::Copy_Traits<cute::UniversalCopy<inlay::block::Vector16>> {};
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
