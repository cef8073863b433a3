// Which GPU is here. A unit of its own: a program that measures nothing links it without what measures.
#include <fmt/format.h>

#include "measure/gpu.h"

namespace inlay::lab {

std::string why_no_gpu() {
  int count = 0;
  cudaError_t const status = cudaGetDeviceCount(&count);
  // The runtime reports the same error for a missing driver and for one that is too old.
  if (status == cudaErrorInsufficientDriver) return "no NVIDIA driver, or one older than CUDA 13's";
  if (status != cudaSuccess) return fmt::format("the CUDA runtime says: {}", cudaGetErrorString(status));
  return count ? "" : "the driver finds none";
}

Device gpu_or_table() { return why_no_gpu().empty() ? model::current_device() : Device{}; }

std::string gpu_name() {
  int id = 0;
  detail::check(cudaGetDevice(&id));
  cudaDeviceProp p{};
  detail::check(cudaGetDeviceProperties(&p, id));
  return p.name;
}

}  // namespace inlay::lab
