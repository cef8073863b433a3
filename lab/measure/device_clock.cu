#include <inlay/error.h>

#include <vector>

#include "measure/cuda_handles.h"
#include "measure/device_clock.h"
#include "measure/stats.h"

namespace inlay::lab {

using detail::check;
namespace {

struct Elapsed {
  long long cycles, nanoseconds;
};

constexpr unsigned kMostSms = 1024;

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

__global__ void stamp(Elapsed* of_sms) {
  unsigned sm;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
  if (threadIdx.x == 0 && sm < kMostSms) of_sms[sm] = {clock64(), global_nanoseconds()};
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

ClockMeter::ClockMeter() : stamps_(device_memory(2 * kMostSms * sizeof(Elapsed))) {
  check(cudaMemset(stamps_.get(), 0, 2 * kMostSms * sizeof(Elapsed)));
  check(cudaStreamSynchronize(nullptr));  // non-blocking streams do not wait for the default stream
}

void ClockMeter::begin(cudaStream_t stream) {
  stamp<<<kMostSms, 32, 0, stream>>>(reinterpret_cast<Elapsed*>(stamps_.get()));
  check(cudaGetLastError());
}

double ClockMeter::end(cudaStream_t stream) {
  auto* const stamps = reinterpret_cast<Elapsed*>(stamps_.get());
  stamp<<<kMostSms, 32, 0, stream>>>(stamps + kMostSms);
  check(cudaGetLastError());
  std::vector<Elapsed> host(2 * kMostSms);
  check(cudaMemcpyAsync(host.data(), stamps, host.size() * sizeof(Elapsed), cudaMemcpyDeviceToHost, stream));
  check(cudaStreamSynchronize(stream));
  std::vector<double> mhz;
  for (unsigned sm = 0; sm < kMostSms; ++sm) {
    Elapsed const first = host[sm], last = host[sm + kMostSms];
    if (first.nanoseconds && last.nanoseconds > first.nanoseconds)
      mhz.push_back(1e3 * double(last.cycles - first.cycles) / double(last.nanoseconds - first.nanoseconds));
  }
  return mhz.empty() ? 0 : spread(std::move(mhz)).median;
}

}  // namespace inlay::lab
