// The one generic entry. A kernel is an aggregate of its parameters; its name stays in the mangled symbol.
#pragma once
#include <inlay/error.h>

#include <atomic>

#include "block/device_block.h"
#include "block/tensor_map.h"
#include "plan/device.h"
#include "problem/gemm.h"
#include "problem/move.h"

namespace inlay {

// A kernel may say how many blocks of it should fit a multiprocessor (min_blocks: bounds its registers), and how many
// should be there at most (blocks_per_sm: bounds the bytes in flight, see Occupancy). One with cluster() is launched in
// clusters of so many blocks. One that `follows` may be launched while the kernel before it ends: it calls
// wait_previous_kernel().
template <class Kernel>
constexpr int min_blocks_of() {
  if constexpr (requires { Kernel::min_blocks; }) return Kernel::min_blocks;
  return 0;
}
template <class Kernel>
constexpr int blocks_per_sm_of() {
  if constexpr (requires { Kernel::blocks_per_sm; }) return Kernel::blocks_per_sm;
  return 0;
}

// What a launch asks of shared memory. Loads in flight live in the L1, which is what shared memory leaves of 256 KB: the
// carve-out is the smallest that holds blocks_per_sm blocks, and each block's request is padded so that no more fit.
// Both are needed: padding alone lets the driver choose a larger carve-out. The sizes are those of compute capability 9.0;
// elsewhere the driver chooses.
template <class Kernel>
struct Occupancy {
  static constexpr int reserved = 1024;  // bytes of each block that the system takes
  static constexpr int used = std::is_empty_v<typename Kernel::Smem> ? 0 : int(sizeof(typename Kernel::Smem));
  static constexpr int blocks = blocks_per_sm_of<Kernel>();
  static constexpr int carveout() {  // bytes
    for (int kb : {8, 16, 32, 64, 100, 132, 164, 196})
      if (kb * 1024 >= blocks * (used + reserved)) return kb * 1024;
    return 228 * 1024;
  }
  static constexpr int dynamic = blocks ? (carveout() / (blocks ? blocks : 1) - reserved) / 16 * 16 : used;
  static constexpr int percent = (carveout() * 100 + 228 * 1024 - 1) / (228 * 1024);
  static_assert(dynamic >= used, "the blocks that should fit a multiprocessor do not");
};

template <class Kernel>
__global__ __launch_bounds__(Kernel::threads,
                             min_blocks_of<Kernel>()) void entry(__grid_constant__ Kernel const kernel) {
  extern __shared__ __align__(1024) unsigned char smem[];
  kernel(DeviceBlock{}, *reinterpret_cast<typename Kernel::Smem*>(smem));
}

// Launches on `stream` of the current device; neither synchronises nor allocates. Zero blocks: nothing is launched.
template <class Kernel>
void launch(Kernel const& kernel, Device const& device, cudaStream_t stream) {
  std::int64_t const blocks = kernel.blocks();
  if (blocks == 0) return;
  using Smem = Occupancy<Kernel>;
  if constexpr (Smem::dynamic > 48 * 1024 || Smem::blocks > 0) {
    static std::atomic<std::uint64_t> ready{0};  // one bit per device
    std::uint64_t const bit = std::uint64_t(1) << device.id;
    if (!(ready.load(std::memory_order_acquire) & bit)) {
      check(cudaFuncSetAttribute(entry<Kernel>, cudaFuncAttributeMaxDynamicSharedMemorySize, Smem::dynamic));
      if (Smem::blocks && device.compute_capability == 90)
        check(cudaFuncSetAttribute(entry<Kernel>, cudaFuncAttributePreferredSharedMemoryCarveout, Smem::percent));
      ready.fetch_or(bit, std::memory_order_release);
    }
  }
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(unsigned(blocks));
  config.blockDim = dim3(Kernel::threads);
  config.dynamicSmemBytes = Smem::dynamic;
  config.stream = stream;
  cudaLaunchAttribute attributes[2];
  config.attrs = attributes;
  if constexpr (requires { kernel.cluster(); }) {
    auto& a = attributes[config.numAttrs++];
    a.id = cudaLaunchAttributeClusterDimension;
    a.val.clusterDim = {unsigned(kernel.cluster()), 1, 1};
  }
  if constexpr (requires { Kernel::follows; }) {
    auto& a = attributes[config.numAttrs++];
    a.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    a.val.programmaticStreamSerializationAllowed = device.compute_capability >= 90;
  }
  check(cudaLaunchKernelEx(&config, entry<Kernel>, kernel));
}

// Kernel<T> for the element size of the move. An empty move launches nothing.
template <template <class> class Kernel>
void launch_move(Move const& move, Device const& device, void*, cudaStream_t stream) {
  if (move.elements() == 0) return;
  with_element(move.elem_bytes,
               [&](auto element) { launch(Kernel<decltype(element)>::make(move, DriverEncoder{}), device, stream); });
}

// What a variant of Gemm launches, in order: Kernel::launches says so where it is more than Kernel itself.
template <class Kernel>
void launch_gemm(Gemm const& gemm, Device const& device, void* workspace, cudaStream_t stream) {
  if (gemm.elements() == 0) return;
  over_launches<Kernel>(gemm, device, workspace, DriverEncoder{},
                        [&](auto const& kernel) { launch(kernel, device, stream); });
}

}  // namespace inlay
