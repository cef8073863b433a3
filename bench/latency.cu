// Measures latencies and rates of the time model (src/model/) on the current GPU: of one load from DRAM and from the
// L2 without other traffic, of the launch of an almost empty kernel, and of mma.sync.
// usage: latency  (prints a Markdown table; medians of 15)
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <numeric>
#include <random>
#include <vector>

#include "measure/cuda_handles.h"
#include "measure/stats.h"

namespace inlay::lab {
namespace {

constexpr int kSamples = 15;
constexpr int kLoads = 20000, kLaunches = 1000, kThreads = 256;
constexpr std::size_t kApart = 512;  // bytes from one word of a chain to the next: each in its own cache line

// Each load returns the index of the next one.
__global__ void chase(std::uint32_t const* words, int loads, std::uint32_t* last) {
  std::uint32_t at = *last;
  for (int k = 0; k < loads; ++k) at = __ldcg(words + at);
  *last = at;
}

__global__ void nothing(std::uint32_t*) {}
__global__ void one_load(std::uint32_t* words) {
  std::uint32_t* const word = words + (blockIdx.x * blockDim.x + threadIdx.x);
  *word = __ldcg(word) + 1;
}

// Each warp keeps eight sums of m16n8k16 going, of bf16 in fp32. clocks: of each block.
constexpr int kMmaRounds = 4096, kMmaSums = 8;
__global__ void multiply(unsigned const* operands, float* results, long long* clocks) {
  unsigned const a = operands[threadIdx.x % 32], b = operands[threadIdx.x % 32 + 32];
  float sum[kMmaSums][4] = {};
  __syncthreads();
  long long const begin = clock64();
  for (int round = 0; round < kMmaRounds; ++round)
#pragma unroll
    for (int i = 0; i < kMmaSums; ++i)
      asm volatile(
          "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%4,%4,%4}, {%5,%5}, {%0,%1,%2,%3};"
          : "+f"(sum[i][0]), "+f"(sum[i][1]), "+f"(sum[i][2]), "+f"(sum[i][3])
          : "r"(a), "r"(b));
  __syncthreads();
  if (threadIdx.x == 0) clocks[blockIdx.x] = clock64() - begin;
  for (auto const& each : sum)
    for (float x : each)
      if (x == 1.5f) *results = x;  // never: the operands are zeros; keeps the sums alive
}

// Multiply-adds of an SM in a clock, with one block of 8 warps on each SM.
double mma_rate(int sms, cudaStream_t stream) {
  DeviceMemory const operands = device_memory(64 * 4 + 4), clocks = device_memory(std::size_t(sms) * 8);
  check(cudaMemset(operands.get(), 0, 64 * 4 + 4));
  multiply<<<unsigned(sms), kThreads, 0, stream>>>(reinterpret_cast<unsigned const*>(operands.get()),
                                                   reinterpret_cast<float*>(operands.get() + 64 * 4),
                                                   reinterpret_cast<long long*>(clocks.get()));
  check(cudaGetLastError());
  std::vector<long long> each(std::size_t(sms), 0);
  check(cudaMemcpyAsync(each.data(), clocks.get(), each.size() * 8, cudaMemcpyDeviceToHost, stream));
  check(cudaStreamSynchronize(stream));
  std::nth_element(each.begin(), each.begin() + sms / 2, each.end());
  return double(kThreads / 32) * kMmaRounds * kMmaSums * 16 * 8 * 16 / double(each[std::size_t(sms / 2)]);
}

// A cycle through all words of a buffer, in random order.
std::vector<std::uint32_t> chain(std::size_t bytes) {
  std::size_t const n = bytes / kApart, words = kApart / 4;
  std::vector<std::uint32_t> order(n), next(n * words);
  std::iota(order.begin(), order.end(), 0u);
  std::shuffle(order.begin(), order.end(), std::mt19937(1));
  for (std::size_t k = 0; k < n; ++k) next[order[k] * words] = std::uint32_t(order[(k + 1) % n] * words);
  return next;
}

template <class F>
double median_ms(cudaStream_t stream, F work) {
  Event const begin = make_event(), end = make_event();
  std::vector<double> all;
  for (int k = 0; k < kSamples + 1; ++k) {
    check(cudaEventRecord(begin.get(), stream));
    work();
    check(cudaGetLastError());
    check(cudaEventRecord(end.get(), stream));
    check(cudaEventSynchronize(end.get()));
    float ms;
    check(cudaEventElapsedTime(&ms, begin.get(), end.get()));
    if (k > 0) all.push_back(ms);  // the first one warms up
  }
  return spread(all).median;
}

double load_ns(std::size_t bytes, cudaStream_t stream) {
  std::vector<std::uint32_t> const words = chain(bytes);
  DeviceMemory const buffer = device_memory(bytes), last = device_memory(4);
  auto* const begin = reinterpret_cast<std::uint32_t*>(buffer.get());
  auto* const at = reinterpret_cast<std::uint32_t*>(last.get());
  check(cudaMemcpy(begin, words.data(), bytes, cudaMemcpyHostToDevice));
  check(cudaMemset(at, 0, 4));
  // The short chain is gone around in each run, so it is in the L2; of the long one no word is met twice.
  return 1e6 / kLoads * median_ms(stream, [&] { chase<<<1, 1, 0, stream>>>(begin, kLoads, at); });
}

// The time of one launch among many, back to back.
double launch_us(void (*kernel)(std::uint32_t*), std::uint32_t* words, int blocks, cudaStream_t stream) {
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
  for (int k = 0; k < kLaunches; ++k) kernel<<<blocks, kThreads, 0, stream>>>(words);
  cudaGraph_t captured;
  check(cudaStreamEndCapture(stream, &captured));
  Graph const graph(captured);
  cudaGraphExec_t made;
  check(cudaGraphInstantiate(&made, graph.get(), 0));
  GraphExec const exec(made);
  return 1e3 / kLaunches * median_ms(stream, [&] { check(cudaGraphLaunch(exec.get(), stream)); });
}

void print() {
  cudaDeviceProp p;
  check(cudaGetDeviceProperties(&p, 0));
  Stream const stream = make_stream();
  DeviceMemory const words = device_memory(std::size_t(64) << 20);
  auto* const at = reinterpret_cast<std::uint32_t*>(words.get());
  std::printf("%s, medians of %d\n\n| | |\n|---|--:|\n", p.name, kSamples);
  for (std::size_t mib : {8, 512})
    std::printf("| a load that waits for the one before, of %zu MiB | %.0f ns |\n", mib,
                load_ns(mib << 20, stream.get()));
  int const sms = p.multiProcessorCount;
  for (int blocks : {1, sms, 8 * sms}) {
    std::printf("| a kernel of %d blocks that does nothing | %.2f us |\n", blocks,
                launch_us(nothing, at, blocks, stream.get()));
    std::printf("| the same, each thread loads a word and stores it | %.2f us |\n",
                launch_us(one_load, at, blocks, stream.get()));
  }
  double const few = launch_us(nothing, at, 16 * sms, stream.get()),
               many = launch_us(nothing, at, 80 * sms, stream.get());
  std::printf("| a warp of a new block, on every multiprocessor | %.1f ns |\n",
              1e3 * (many - few) / (80 - 16) / (kThreads / 32));
  std::printf("| multiply-adds of mma.sync m16n8k16, bf16, of an SM in a clock | %.0f |\n",
              mma_rate(sms, stream.get()));
}

}  // namespace
}  // namespace inlay::lab

int main() {
  try {
    inlay::lab::print();
  } catch (std::exception const& e) {
    std::fprintf(stderr, "latency: %s\n", e.what());
    return 1;
  }
}
