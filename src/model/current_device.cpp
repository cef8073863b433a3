// The only part of the planner that calls the CUDA runtime; a build without CUDA leaves it out.
#include <inlay/error.h>
#include <inlay/model/device.h>

#include <array>
#include <memory>
#include <mutex>

namespace inlay::model {
namespace {

// The row of the table with this name, or a scaled one. The caller sets what the driver knows.
Device known_or_scaled(cudaDeviceProp const& p, int id) {
  if (Device const* known = find_device(p.name)) return *known;
  int khz = 0, bits = 0;  // of the memory, which transfers twice a clock; 0 where the driver does not say
  (void)cudaDeviceGetAttribute(&khz, cudaDevAttrMemoryClockRate, id);
  (void)cudaDeviceGetAttribute(&bits, cudaDevAttrGlobalMemoryBusWidth, id);
  return scaled_device(p.name, 10 * p.major + p.minor, p.multiProcessorCount, 2e-6 * khz * bits / 8);
}

}  // namespace

Device const& current_device() {
  static std::mutex mutex;
  static std::array<std::unique_ptr<Device>, 64> known;
  int id = 0;
  detail::check(cudaGetDevice(&id));
  detail::require(id < int(known.size()), "the current device has an index beyond 63");
  std::lock_guard lock(mutex);
  if (!known[std::size_t(id)]) {
    cudaDeviceProp p{};
    detail::check(cudaGetDeviceProperties(&p, id));
    auto d = std::make_unique<Device>(known_or_scaled(p, id));
    d->id = id;
    d->compute_capability = 10 * p.major + p.minor;
    d->sm_count = p.multiProcessorCount;
    d->l2_bytes = p.l2CacheSize;
    d->memory_bytes = std::int64_t(p.totalGlobalMem);
    d->pageable_access = p.pageableMemoryAccess != 0;
    d->shared_bytes = int(p.sharedMemPerMultiprocessor) - 1024;  // one block reserves 1 KB, as in the table
    d->max_threads = p.maxThreadsPerMultiProcessor;
    known[std::size_t(id)] = std::move(d);
  }
  return *known[std::size_t(id)];
}

}  // namespace inlay::model
