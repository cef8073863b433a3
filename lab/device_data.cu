#include <inlay/error.h>

#include "cuda_handles.h"
#include "device_data.h"

namespace inlay::lab {
namespace {

constexpr int kBlocks = 2048, kThreads = 256;  // fills any GPU; the kernels stride over the rest

using Index = unsigned long long;  // what atomicAdd and atomicMin take
struct Tally {
  Index count, first;
};

template <class T>
__device__ T pattern(std::uint64_t i);

template <>
__device__ std::uint8_t pattern(std::uint64_t i) {
  return std::uint8_t(i * 0x9E3779B97F4A7C15u >> 56);
}
template <>
__device__ std::uint16_t pattern(std::uint64_t i) {
  return std::uint16_t(i * 0x9E3779B97F4A7C15u >> 48);
}
// An odd factor permutes the 31-bit numbers: 1 bit becomes the sign, 7 an exponent in [64, 192), 23 the mantissa.
template <>
__device__ std::uint32_t pattern(std::uint64_t i) {
  std::uint32_t const x = std::uint32_t(i) * 0x9E3779B1u;
  return (x >> 30 & 1) << 31 | ((x & 0x3fffffff) + (64u << 23));
}
// The same with 52 bits of mantissa, the exponent of 1.0 and a sign.
template <>
__device__ std::uint64_t pattern(std::uint64_t i) {
  std::uint64_t const x = i * 0x9E3779B97F4A7C15u;
  return (x & 0x800fffffffffffffu) | 0x3ff0000000000000u;
}
template <>
__device__ ulonglong2 pattern(std::uint64_t i) {
  return {pattern<std::uint64_t>(i), pattern<std::uint64_t>(~i)};
}

template <class T>
__device__ bool same(T a, T b) {
  return a == b;
}
__device__ bool same(ulonglong2 a, ulonglong2 b) { return a.x == b.x && a.y == b.y; }

template <class T>
__global__ void fill_kernel(T* data, std::int64_t elements) {
  for (std::int64_t i = std::int64_t(blockIdx.x) * kThreads + threadIdx.x; i < elements; i += kBlocks * kThreads)
    data[i] = pattern<T>(std::uint64_t(i));
}

__device__ void note(Tally* tally, std::int64_t i) {
  atomicAdd(&tally->count, Index(1));
  atomicMin(&tally->first, Index(i));
}

template <class T>
__global__ void check_kernel(T const* dst, std::int64_t elements, SourceOrder o, Tally* tally) {
  for (std::int64_t i = std::int64_t(blockIdx.x) * kThreads + threadIdx.x; i < elements; i += kBlocks * kThreads) {
    std::int64_t const row = i / o.inner, l = row / o.outer;
    std::int64_t const from =
        l * o.batch_stride + (row - l * o.outer) * o.outer_stride + (i - row * o.inner) * o.inner_stride;
    if (!same(dst[i], pattern<T>(std::uint64_t(from)))) note(tally, i);
  }
}

__global__ void poison_kernel(unsigned char const* data, std::int64_t bytes, Tally* tally) {
  for (std::int64_t i = std::int64_t(blockIdx.x) * kThreads + threadIdx.x; i < bytes; i += kBlocks * kThreads)
    if (data[i] != kPoison) note(tally, i);
}

// Calls f with a null pointer to the type that stands for elements of this size.
template <class F>
void with_bits(int elem_bytes, F f) {
  switch (elem_bytes) {
    case 1:
      return f(static_cast<std::uint8_t*>(nullptr));
    case 2:
      return f(static_cast<std::uint16_t*>(nullptr));
    case 4:
      return f(static_cast<std::uint32_t*>(nullptr));
    case 8:
      return f(static_cast<std::uint64_t*>(nullptr));
    case 16:
      return f(static_cast<ulonglong2*>(nullptr));
  }
  throw Error("test data has elements of 1, 2, 4, 8 or 16 bytes, not " + std::to_string(elem_bytes));
}

// Runs a kernel that counts into a Tally, and fetches it.
template <class Launch>
Wrong tallied(cudaStream_t stream, Launch launch) {
  DeviceMemory const memory = device_memory(sizeof(Tally));
  auto* const tally = reinterpret_cast<Tally*>(memory.get());
  Tally result{0, ~Index(0)};
  check(cudaMemcpyAsync(tally, &result, sizeof result, cudaMemcpyHostToDevice, stream));
  launch(tally);
  check(cudaGetLastError());
  check(cudaMemcpyAsync(&result, tally, sizeof result, cudaMemcpyDeviceToHost, stream));
  check(cudaStreamSynchronize(stream));
  return {std::int64_t(result.count), std::int64_t(result.first)};
}

}  // namespace

void fill(void* data, int elem_bytes, std::int64_t elements, cudaStream_t stream) {
  with_bits(elem_bytes,
            [&]<class T>(T*) { fill_kernel<<<kBlocks, kThreads, 0, stream>>>(static_cast<T*>(data), elements); });
  check(cudaGetLastError());
}

Wrong count_wrong(void const* dst, int elem_bytes, std::int64_t elements, SourceOrder order, cudaStream_t stream) {
  return tallied(stream, [&](Tally* tally) {
    with_bits(elem_bytes, [&]<class T>(T*) {
      check_kernel<<<kBlocks, kThreads, 0, stream>>>(static_cast<T const*>(dst), elements, order, tally);
    });
  });
}

Wrong count_unpoisoned(void const* data, std::int64_t bytes, cudaStream_t stream) {
  return tallied(stream, [&](Tally* tally) {
    poison_kernel<<<kBlocks, kThreads, 0, stream>>>(static_cast<unsigned char const*>(data), bytes, tally);
  });
}

}  // namespace inlay::lab
