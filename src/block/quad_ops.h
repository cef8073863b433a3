// Loads and stores of four floats as CuTe copy operations. Their order in the source is kept, because kernels schedule
// the loads of an outer product by hand.
#pragma once
#include <inlay/block/block.h>

namespace inlay::block {

// Four floats of a thread, loaded with one instruction.
struct alignas(16) Quad {
  float x[4];
};

// Loads 16 bytes from shared memory. The instruction is volatile: the compiler keeps its order among other volatile
// ones.
struct LoadSharedOrdered {
  using SRegisters = Quad[1];
  using DRegisters = Quad[1];

  CUTE_HOST_DEVICE static void copy(Quad const& src, Quad& dst) {
#ifdef __CUDA_ARCH__
    asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(dst.x[0]), "=f"(dst.x[1]), "=f"(dst.x[2]), "=f"(dst.x[3])
                 : "r"(cute::cast_smem_ptr_to_uint(&src)));
#else
    dst = src;
#endif
  }
};

// Loads X, a float or a Quad, from the shared memory of another block of the cluster, at an address that Block::peer
// returned.
template <class X>
struct LoadCluster {
  using SRegisters = X[1];
  using DRegisters = X[1];

  CUTE_HOST_DEVICE static void copy(X const& src, X& dst) {
#ifdef __CUDA_ARCH__
    if constexpr (sizeof(X) == 16)
      asm volatile("ld.shared::cluster.v4.f32 {%0, %1, %2, %3}, [%4];"
                   : "=f"(dst.x[0]), "=f"(dst.x[1]), "=f"(dst.x[2]), "=f"(dst.x[3])
                   : "r"(cute::cast_smem_ptr_to_uint(&src)));
    else
      asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(dst) : "r"(cute::cast_smem_ptr_to_uint(&src)));
#else
    dst = src;
#endif
  }
};

// Stores to global memory with one instruction; of words that are put together from halves, the compiler stores 8 bytes
// at a time.
struct StoreGlobal {
  using SRegisters = Quad[1];
  using DRegisters = Quad[1];

  CUTE_HOST_DEVICE static void copy(Quad const& src, Quad& dst) {
#ifdef __CUDA_ARCH__
    asm volatile("st.global.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(__cvta_generic_to_global(&dst)), "f"(src.x[0]),
                 "f"(src.x[1]), "f"(src.x[2]), "f"(src.x[3])
                 : "memory");
#else
    dst = src;
#endif
  }
};

}  // namespace inlay::block

template <>
struct cute::Copy_Traits<inlay::block::StoreGlobal> : cute::Copy_Traits<cute::UniversalCopy<inlay::block::Quad>> {};
template <class X>
struct cute::Copy_Traits<inlay::block::LoadCluster<X>> : cute::Copy_Traits<cute::UniversalCopy<X>> {};
template <>
struct cute::Copy_Traits<inlay::block::LoadSharedOrdered> : cute::Copy_Traits<cute::UniversalCopy<inlay::block::Quad>> {
};
