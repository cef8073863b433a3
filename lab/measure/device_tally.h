// Counts wrong elements of a buffer on the device. For .cu files.
#pragma once
#include <inlay/error.h>

#include "measure/cuda_handles.h"
#include "measure/device_data.h"

namespace inlay::lab {

using detail::check;

inline constexpr int kBlocks = 2048,
                     kThreads = 256;  // enough to fill any GPU; the loops of the kernels are grid-stride

// Calls f(i) once for every element of a buffer, in a launch of kBlocks x kThreads.
template <class F>
__device__ void over_all(std::int64_t elements, F f) {
  for (std::int64_t i = std::int64_t(blockIdx.x) * kThreads + threadIdx.x; i < elements; i += kBlocks * kThreads) f(i);
}

using Index = unsigned long long;  // the type of atomicAdd and atomicMin
struct Tally {
  Index count = 0, first = ~Index(0);
};
struct Tallies {
  Tally wrong, stray;
};

__device__ inline void note(Tally* tally, std::int64_t i) {
  atomicAdd(&tally->count, Index(1));
  atomicMin(&tally->first, Index(i));
}

template <class T>
__device__ bool is_poison(T element) {
  auto const* const bytes = reinterpret_cast<unsigned char const*>(&element);
  bool all = true;
  for (unsigned b = 0; b < sizeof(T); ++b) all &= bytes[b] == kPoison;
  return all;
}

// Copies `begun` to the device, launches a kernel that changes it, and returns it. Synchronises the stream.
template <class T, class Launch>
T filled_in(T begun, cudaStream_t stream, Launch launch) {
  DeviceMemory const memory = device_memory(sizeof(T));
  auto* const there = reinterpret_cast<T*>(memory.get());
  check(cudaMemcpyAsync(there, &begun, sizeof(T), cudaMemcpyHostToDevice, stream));
  launch(there);
  check(cudaGetLastError());
  check(cudaMemcpyAsync(&begun, there, sizeof(T), cudaMemcpyDeviceToHost, stream));
  check(cudaStreamSynchronize(stream));
  return begun;
}

// Runs kernels that count into Tallies, and returns the counts. Synchronises the stream.
template <class Launch>
Checked tallied(cudaStream_t stream, Launch launch) {
  Tallies const t = filled_in(Tallies{}, stream, launch);
  return {{std::int64_t(t.wrong.count), std::int64_t(t.wrong.first)},
          {std::int64_t(t.stray.count), std::int64_t(t.stray.first)}};
}

}  // namespace inlay::lab
