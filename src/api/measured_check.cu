// The bitwise comparison of a tuned copy with the planned one.
#include <inlay/error.h>
#include <inlay/problem/footprint.h>

#include <string>

#include "measured.h"

namespace inlay {
namespace {

constexpr int kThreads = 256, kBlocks = 1024;

__global__ void invert(unsigned char* to, unsigned char const* from, std::int64_t bytes) {
  for (std::int64_t i = blockIdx.x * std::int64_t(kThreads) + threadIdx.x; i < bytes; i += kThreads * kBlocks)
    to[i] = static_cast<unsigned char>(~from[i]);
}
// counts[0]: equal bytes; counts[1]: bytes that are neither equal nor inverted.
__global__ void compare(unsigned char const* a, unsigned char const* b, std::int64_t bytes,
                        unsigned long long* counts) {
  unsigned long long equal = 0, other = 0;
  for (std::int64_t i = blockIdx.x * std::int64_t(kThreads) + threadIdx.x; i < bytes; i += kThreads * kBlocks) {
    equal += a[i] == b[i];
    other += a[i] != b[i] && a[i] != static_cast<unsigned char>(~b[i]);
  }
  atomicAdd(counts, equal);
  atomicAdd(counts + 1, other);
}

struct Memory {
  void* p = nullptr;
  explicit Memory(std::size_t bytes) { detail::check(cudaMalloc(&p, bytes)); }
  Memory(Memory const&) = delete;
  ~Memory() { cudaFree(p); }
};

}  // namespace

// The other memory begins as the inverse of the destination: afterwards exactly the elements are equal, and gaps still
// inverted.
void check_same_bytes(planner::Plan const& plan, model::Device const& device, ConstTensor const& dst, void const* src,
                      cudaStream_t stream) {
  problem::Footprint const range(dst);
  auto const bytes = std::int64_t(range.last - range.first);
  constexpr std::size_t kAlign = 256, kCounts = 2;
  std::size_t const past = range.first % kAlign;
  Memory const memory(std::size_t(bytes) + past + kAlign), counted(kCounts * sizeof(unsigned long long));
  auto* const copied = static_cast<unsigned char*>(memory.p) + past;
  auto* const counts = static_cast<unsigned long long*>(counted.p);
  auto const* const first = reinterpret_cast<unsigned char const*>(range.first);
  detail::check(cudaMemsetAsync(counts, 0, kCounts * sizeof *counts, stream));
  cudaLaunchConfig_t config{};
  config.gridDim = {kBlocks, 1, 1}, config.blockDim = {kThreads, 1, 1}, config.stream = stream;
  detail::check(cudaLaunchKernelEx(&config, invert, copied, first, bytes));
  void* const to = copied + (static_cast<unsigned char const*>(dst.data) - first);
  planner::run(plan, device, planner::Operands{{to, const_cast<void*>(src), nullptr}, nullptr}, stream);
  detail::check(cudaLaunchKernelEx(&config, compare, first, static_cast<unsigned char const*>(copied), bytes, counts));
  unsigned long long found[kCounts];
  detail::check(cudaMemcpyAsync(found, counts, sizeof found, cudaMemcpyDeviceToHost, stream));
  detail::check(cudaStreamSynchronize(stream));
  auto const wanted = static_cast<unsigned long long>(dst.size() * bytes_of(dst.dtype));
  if (found[0] != wanted || found[1] != 0)
    throw Error("a tuned copy wrote " + std::to_string(found[0]) + " right bytes and " + std::to_string(found[1]) +
                    " wrong ones, where the planned copy writes " + std::to_string(wanted),
                ErrorCode::unsupported);
}

}  // namespace inlay
