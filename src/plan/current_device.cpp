// The only part of the planner that asks the driver; a build without CUDA leaves it out.
#include <inlay/error.h>

#include <array>
#include <memory>
#include <mutex>

#include "plan/device.h"

namespace inlay {

Device const& current_device() {
  static std::mutex mutex;
  static std::array<std::unique_ptr<Device>, 64> known;
  int id = 0;
  check(cudaGetDevice(&id));
  require(id < int(known.size()), "the current device has an index beyond 63");
  std::lock_guard lock(mutex);
  if (!known[std::size_t(id)]) {
    cudaDeviceProp p{};
    check(cudaGetDeviceProperties(&p, id));
    auto d = std::make_unique<Device>();
    d->name = p.name, d->id = id;
    d->compute_capability = 10 * p.major + p.minor;
    d->sm_count = p.multiProcessorCount;
    d->l2_bytes = p.l2CacheSize;
    d->memory_bytes = std::int64_t(p.totalGlobalMem);
    d->peak_gbps = datasheet_gbps(d->name);
    known[std::size_t(id)] = std::move(d);
  }
  return *known[std::size_t(id)];
}

}  // namespace inlay
