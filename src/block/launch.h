// The one generic entry. A kernel is an aggregate of its parameters; its name stays in the mangled symbol.
#pragma once
#include <inlay/error.h>

#include <atomic>

#include "block/device_block.h"
#include "block/tensor_map.h"
#include "plan/device.h"
#include "problem/move.h"

namespace inlay {

template <class Kernel>
__global__ __launch_bounds__(Kernel::threads) void entry(__grid_constant__ Kernel const kernel) {
  extern __shared__ __align__(1024) unsigned char smem[];
  kernel(DeviceBlock{}, *reinterpret_cast<typename Kernel::Smem*>(smem));
}

// Launches on `stream` of the current device; neither synchronises nor allocates. Zero blocks: nothing is launched.
template <class Kernel>
void launch(Kernel const& kernel, Device const& device, cudaStream_t stream) {
  std::int64_t const blocks = kernel.blocks();
  if (blocks == 0) return;
  constexpr std::size_t smem = std::is_empty_v<typename Kernel::Smem> ? 0 : sizeof(typename Kernel::Smem);
  if constexpr (smem > 48 * 1024) {
    static std::atomic<std::uint64_t> ready{0};  // one bit per device
    std::uint64_t const bit = std::uint64_t(1) << device.id;
    if (!(ready.load(std::memory_order_acquire) & bit)) {
      check(cudaFuncSetAttribute(entry<Kernel>, cudaFuncAttributeMaxDynamicSharedMemorySize, int(smem)));
      ready.fetch_or(bit, std::memory_order_release);
    }
  }
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(unsigned(blocks));
  config.blockDim = dim3(Kernel::threads);
  config.dynamicSmemBytes = smem;
  config.stream = stream;
  check(cudaLaunchKernelEx(&config, entry<Kernel>, kernel));
}

// Kernel<T> for the element size of the move. An empty move launches nothing.
template <template <class> class Kernel>
void launch_move(Move const& move, Device const& device, cudaStream_t stream) {
  if (move.elements() == 0) return;
  with_element(move.elem_bytes,
               [&](auto element) { launch(Kernel<decltype(element)>::make(move, DriverEncoder{}), device, stream); });
}

}  // namespace inlay
