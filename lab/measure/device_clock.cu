#include <inlay/error.h>

#include "measure/cuda_handles.h"
#include "measure/device_clock.h"

namespace inlay::lab {

using detail::check;
namespace {

struct Elapsed {
  long long cycles, nanoseconds;
};

__device__ long long global_nanoseconds() {
  long long t;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
  return t;
}

__global__ void spin(Elapsed* elapsed) {
  long long const t0 = global_nanoseconds(), c0 = clock64();
  long long t = t0;
  while (t - t0 < 10'000'000) t = global_nanoseconds();
  *elapsed = {clock64() - c0, t - t0};
}

struct Parameters {
  char bytes[512];
};
__global__ void nothing(Parameters const) {}

}  // namespace

void launch_nothing(cudaStream_t stream) {
  nothing<<<1, 32, 0, stream>>>({});
  check(cudaGetLastError());
}

double clock_mhz(cudaStream_t stream) {
  DeviceMemory const memory = device_memory(sizeof(Elapsed));
  auto* const elapsed = reinterpret_cast<Elapsed*>(memory.get());
  spin<<<1, 1, 0, stream>>>(elapsed);
  check(cudaGetLastError());
  Elapsed host;
  check(cudaMemcpyAsync(&host, elapsed, sizeof host, cudaMemcpyDeviceToHost, stream));
  check(cudaStreamSynchronize(stream));
  return 1e3 * double(host.cycles) / double(host.nanoseconds);
}

}  // namespace inlay::lab
