// Loads into the L2 alone, without registers or shared memory.
#pragma once
#include <cute/config.hpp>

#include <cstdint>

namespace inlay::block {

// Brings the cache line that holds an address of global memory to the L2. In a replay only the loads that find it there
// are counted.
CUTE_HOST_DEVICE void prefetch_l2([[maybe_unused]] void const* from) {
#ifdef __CUDA_ARCH__
  asm volatile("prefetch.global.L2 [%0];" ::"l"(__cvta_generic_to_global(from)));
#endif
}

}  // namespace inlay::block
