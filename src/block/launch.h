// The one generic entry. A kernel is an aggregate of its parameters; its name stays in the mangled symbol.
#pragma once
#include <inlay/error.h>

#include <atomic>
#include <bit>
#include <string>

#include <inlay/block/device_block.h>
#include <inlay/block/kernel.h>
#include <inlay/block/tensor_map.h>

namespace inlay::block {

// What a launch asks of shared memory. Loads in flight live in the L1, which is what shared memory leaves of 256 KB: the
// carve-out is the smallest that holds blocks_per_sm blocks, and each block's request is padded so that no more fit.
// Both are needed: padding alone lets the driver choose a larger carve-out. The sizes are those of compute capability 9.0;
// elsewhere the driver chooses.
template <Kernel K>
struct SmemRequest {
  static constexpr int reserved = 1024;  // bytes of each block that the system takes
  static constexpr int used = smem_bytes<K>, blocks = K::launch_info.blocks_per_sm;
  static constexpr int carveout() {  // bytes
    for (int kb : {8, 16, 32, 64, 100, 132, 164, 196})
      if (kb * 1024 >= blocks * (used + reserved)) return kb * 1024;
    return 228 * 1024;
  }
  static constexpr int dynamic = blocks ? (carveout() / (blocks ? blocks : 1) - reserved) / 16 * 16 : used;
  static constexpr int percent = (carveout() * 100 + 228 * 1024 - 1) / (228 * 1024);
  static_assert(dynamic >= used, "the blocks that should fit a multiprocessor do not");
};

// The name is of the type, which a mangled symbol shows.
template <Kernel K>
__global__ __launch_bounds__(K::launch_info.threads,
                             K::launch_info.min_blocks) void entry(__grid_constant__ K const kernel) {
  extern __shared__ __align__(1024) unsigned char smem[];
  kernel(DeviceBlock{}, *reinterpret_cast<typename K::Smem*>(smem));
}

// Where a launch goes: the current device, and what the launch has to know of it.
struct Target {
  int device = 0;
  int compute_capability = 90;  // 10 * major + minor
};

template <Kernel K>
class CudaLaunch {
 public:
  CudaLaunch(K const& kernel, Target const& target, cudaStream_t stream) {
    config.gridDim = dim3(unsigned(kernel.blocks()));
    config.blockDim = dim3(unsigned(K::launch_info.threads));
    config.dynamicSmemBytes = SmemRequest<K>::dynamic;
    config.stream = stream;
    config.attrs = attributes_;
    if constexpr (K::launch_info.clusters) {
      auto& a = attributes_[config.numAttrs++];
      a.id = cudaLaunchAttributeClusterDimension;
      a.val.clusterDim = {cluster_of(kernel), 1, 1};
    }
    if constexpr (K::launch_info.follows) {
      auto& a = attributes_[config.numAttrs++];
      a.id = cudaLaunchAttributeProgrammaticStreamSerialization;
      a.val.programmaticStreamSerializationAllowed = target.compute_capability >= 90;
    }
  }
  CudaLaunch(CudaLaunch const&) = delete;  // the configuration points into it

  cudaLaunchConfig_t config{};

 private:
  cudaLaunchAttribute attributes_[2];
};

// Throws for what a launch on the current device would be refused for, and sets the kernel's attributes: once for each
// device, and each size of its clusters. Launches nothing.
template <Kernel K>
void prepare(K const& kernel, Target const& target) {
  if (kernel.blocks() == 0) return;
  using Smem = SmemRequest<K>;
  unsigned const cluster = cluster_of(kernel);
  static std::atomic<std::uint64_t> ready[4];  // of clusters of 1, 2, 4 and 8: one bit per device
  std::atomic<std::uint64_t>& of_size = ready[std::bit_width(cluster - 1) % 4];
  std::uint64_t const bit = std::uint64_t(1) << target.device;
  if (of_size.load(std::memory_order_acquire) & bit) return;
  cudaFuncAttributes compiled{};
  detail::check(cudaFuncGetAttributes(&compiled, entry<K>));  // refused where the program has no code for the device
  if constexpr (Smem::dynamic > 48 * 1024 || Smem::blocks > 0) {
    detail::check(cudaFuncSetAttribute(entry<K>, cudaFuncAttributeMaxDynamicSharedMemorySize, Smem::dynamic));
    if (Smem::blocks && target.compute_capability == 90)
      detail::check(cudaFuncSetAttribute(entry<K>, cudaFuncAttributePreferredSharedMemoryCarveout, Smem::percent));
  }
  if (cluster > 1) {
    int fit = 0;
    CudaLaunch<K> const launch(kernel, target, nullptr);
    detail::check(cudaOccupancyMaxActiveClusters(&fit, entry<K>, &launch.config));
    if (fit == 0)
      throw Error("device " + std::to_string(target.device) + " has no space for a cluster of " +
                  std::to_string(cluster) + " blocks");
  }
  of_size.fetch_or(bit, std::memory_order_release);
}

// Launches on `stream` of the current device; neither synchronises nor allocates. Zero blocks: nothing is launched.
template <Kernel K>
void launch(K const& kernel, Target const& target, cudaStream_t stream) {
  if (kernel.blocks() == 0) return;
  prepare(kernel, target);
  CudaLaunch<K> const launch(kernel, target, stream);
  detail::check(cudaLaunchKernelEx(&launch.config, entry<K>, kernel));
}

}  // namespace inlay::block
