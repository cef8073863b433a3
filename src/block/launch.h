// Launches kernels through one generic __global__ entry. The kernel's type stays in the mangled symbol of its instance.
#pragma once
#include <inlay/error.h>

#include <atomic>
#include <bit>
#include <string>

#include <inlay/block/device_block.h>
#include <inlay/block/kernel.h>
#include <inlay/block/tensor_map.h>

namespace inlay::block {

// Dynamic shared memory of a launch, in bytes. With blocks_per_sm, `dynamic` is padded so that at most blocks_per_sm
// blocks are resident on an SM, and the carve-out is the smallest that holds them, so that the rest of the SM's 256 KB
// serves as L1 for loads in flight. The carve-out is set explicitly because padding alone lets the driver choose a
// larger one. The sizes are those of compute capability 9.0; on other devices the driver chooses the carve-out.
template <Kernel K>
struct SmemRequest {
  static constexpr int reserved = 1024;  // bytes per block that CUDA reserves
  static constexpr int used = smem_bytes<K>, blocks = K::launch_info.blocks_per_sm;
  static constexpr int carveout() {  // bytes; the sizes of compute capability 9.0
    for (int kb : {8, 16, 32, 64, 100, 132, 164, 196})
      if (kb * 1024 >= blocks * (used + reserved)) return kb * 1024;
    return 228 * 1024;
  }
  static constexpr int dynamic = blocks ? (carveout() / (blocks ? blocks : 1) - reserved) / 16 * 16 : used;
  static constexpr int percent = (carveout() * 100 + 228 * 1024 - 1) / (228 * 1024);
  static_assert(dynamic >= used, "blocks_per_sm blocks do not fit the shared memory of an SM");
};

template <Kernel K>
__global__ __launch_bounds__(K::launch_info.threads,
                             K::launch_info.min_blocks) void entry(__grid_constant__ K const kernel) {
  extern __shared__ __align__(1024) unsigned char smem[];
  kernel(DeviceBlock{}, *reinterpret_cast<typename K::Smem*>(smem));
}

// The device of a launch.
struct Target {
  int device = 0;               // must be the current device
  int compute_capability = 90;  // 10 * major + minor
};

// Configuration of a launch for cudaLaunchKernelEx.
template <Kernel K>
class CudaLaunch {
 public:
  CudaLaunch(K const& kernel, Target const& target, cudaStream_t stream) {
    config.gridDim = dim3(unsigned(kernel.blocks()));
    config.blockDim = dim3(unsigned(K::launch_info.threads));
    config.dynamicSmemBytes = SmemRequest<K>::dynamic;
    config.stream = stream;
    config.attrs = attributes_;
    if (cluster_of(kernel) > 1) {
      auto& a = attributes_[config.numAttrs++];
      a.id = cudaLaunchAttributeClusterDimension;
      a.val.clusterDim = {cluster_of(kernel), 1, 1};
    }
    if constexpr (K::launch_info.follows) {
      auto& a = attributes_[config.numAttrs++];
      a.id = cudaLaunchAttributeProgrammaticStreamSerialization;
      a.val.programmaticStreamSerializationAllowed = target.compute_capability >= 90 && launches_programmatically;
    }
  }
  CudaLaunch(CudaLaunch const&) = delete;  // config.attrs points to attributes_

  cudaLaunchConfig_t config{};

 private:
  cudaLaunchAttribute attributes_[2];
};

// Sets the attributes of the kernel's entry on the current device. Throws if a launch there would fail: no code for the
// device, or no space for a cluster. Does the work once per device and cluster size. Launches nothing.
template <Kernel K>
void prepare(K const& kernel, Target const& target) {
  if (kernel.blocks() == 0) return;
  using Smem = SmemRequest<K>;
  unsigned const cluster = cluster_of(kernel);
  static std::atomic<std::uint64_t> prepared[16];  // one bit per device, for clusters of 1 to 16 blocks
  std::atomic<std::uint64_t>& devices = prepared[(cluster - 1) % 16];
  std::uint64_t const bit = std::uint64_t(1) << target.device;
  if (devices.load(std::memory_order_acquire) & bit) return;
  cudaFuncAttributes compiled{};
  detail::check(cudaFuncGetAttributes(&compiled, entry<K>));  // fails if the program has no code for the device
  if constexpr (Smem::dynamic > 48 * 1024 || Smem::blocks > 0) {
    detail::check(cudaFuncSetAttribute(entry<K>, cudaFuncAttributeMaxDynamicSharedMemorySize, Smem::dynamic));
    if (Smem::blocks && target.compute_capability == 90)
      detail::check(cudaFuncSetAttribute(entry<K>, cudaFuncAttributePreferredSharedMemoryCarveout, Smem::percent));
  }
  if (cluster > 1) {
    int clusters = 0;
    CudaLaunch<K> const launch(kernel, target, nullptr);
    detail::check(cudaOccupancyMaxActiveClusters(&clusters, entry<K>, &launch.config));
    if (clusters == 0)
      throw Error("device " + std::to_string(target.device) + " has no space for a cluster of " +
                  std::to_string(cluster) + " blocks");
  }
  devices.fetch_or(bit, std::memory_order_release);
}

// Launches the kernel on `stream` of the current device. Neither synchronises nor allocates. Does nothing if there are
// no blocks.
template <Kernel K>
void launch(K const& kernel, Target const& target, cudaStream_t stream) {
  if (kernel.blocks() == 0) return;
  prepare(kernel, target);
  CudaLaunch<K> const launch(kernel, target, stream);
  detail::check(cudaLaunchKernelEx(&launch.config, entry<K>, kernel));
}

}  // namespace inlay::block
