// Four floats at once, loaded where the program says so: an outer product is scheduled by hand around its loads.
#pragma once
#include <inlay/block/block.h>

namespace inlay::block {

struct alignas(16) Quad {
  float x[4];
};

// 16 bytes from shared memory, kept in its place among other volatile operations.
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

// X (4 or 16 bytes) from the shared memory of a block of the cluster, at an address that Block::peer gave.
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

}  // namespace inlay::block

template <class X>
struct cute::Copy_Traits<inlay::block::LoadCluster<X>> : cute::Copy_Traits<cute::UniversalCopy<X>> {};
template <>
struct cute::Copy_Traits<inlay::block::LoadSharedOrdered> : cute::Copy_Traits<cute::UniversalCopy<inlay::block::Quad>> {
};
