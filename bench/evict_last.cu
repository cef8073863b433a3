// Does evict_last on the loads of a large copy slow down a concurrent kernel whose data is in the L2 cache?
// usage: evict_last [ROUNDS]  (prints a Markdown table; medians, inter-quartile ranges in brackets)
//
// A large copy runs back to back on one stream, with or without the hint. On another stream, of higher priority, a few
// blocks read or copy a small buffer repeatedly. They start first, so both kernels are resident during the whole
// measurement.
#include <inlay/model/device.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "measure/buffers.h"
#include "measure/copy_candidates.h"
#include "measure/gpu.h"
#include "measure/stats.h"
#include "problems/kernels.h"

namespace inlay::lab {
namespace {

constexpr int kBlocks = 32, kThreads = 512;      // of the small kernel: a quarter of the multiprocessors
constexpr int kLaunches = 8;                     // of the large copy in a round: about 16 ms
constexpr long long kAlone = 16'000'000;         // ns of a measurement of the small kernel alone
constexpr long long kSettled = 500'000;          // ns in which the small kernel starts and fills the cache
constexpr long long kAbandoned = 1'000'000'000;  // ns after which it ends by itself, in case a large launch failed

// Written by the large copy's stream and read by the small kernel: whether its passes are counted.
enum State { waiting = 0, counting = 1, stopped = 2 };

// The passes of one block while it counted, and their time.
struct Window {
  long long passes, nanoseconds;
};

__device__ long long global_nanoseconds() {
  long long t;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
  return t;
}

__global__ void idle(long long nanoseconds) {
  long long const begin = global_nanoseconds();
  while (global_nanoseconds() - begin < nanoseconds) continue;
}

// Each block repeatedly reads or copies its own slice of `vectors` vectors.
template <bool kCopies>
__global__ void __launch_bounds__(kThreads)
    small_kernel(uint4 const* in, uint4* out, int vectors, unsigned char const volatile* state, Window* windows) {
  __shared__ int shared_state;
  uint4 const* const from = in + std::int64_t(blockIdx.x) * vectors;
  uint4* const to = out + std::int64_t(blockIdx.x) * vectors;
  long long const start = global_nanoseconds();
  long long begin = 0, passes = 0;
  uint4 sum{};
  while (true) {
    if (threadIdx.x == 0) shared_state = global_nanoseconds() - start < kAbandoned ? int(*state) : int(stopped);
    __syncthreads();
    int const seen = shared_state;
    __syncthreads();
    if (seen == stopped) break;
    if (seen == counting && begin == 0) begin = global_nanoseconds();
#pragma unroll 8
    for (int i = int(threadIdx.x); i < vectors; i += kThreads) {
      uint4 const v = __ldcg(from + i);
      if constexpr (kCopies)
        __stcg(to + i, v);
      else
        sum = {sum.x ^ v.x, sum.y ^ v.y, sum.z ^ v.z, sum.w ^ v.w};
    }
    passes += begin != 0;
  }
  if constexpr (!kCopies) to[threadIdx.x] = sum;  // keeps the loads from being optimised away
  if (threadIdx.x == 0) windows[blockIdx.x] = {passes, begin ? global_nanoseconds() - begin : 0};
}

struct SmallKernel {
  char const* name;
  decltype(&small_kernel<true>) kernel;
  int vectors;          // of a block's slice
  double bytes_vector;  // read plus written
};
SmallKernel const kSmall[] = {{"the reader of 24 MiB", small_kernel<false>, (24 << 20) / 16 / kBlocks, 16},
                              {"the copier of 8 MiB", small_kernel<true>, (8 << 20) / 16 / kBlocks, 32}};

constexpr char const* kLarge[] = {"copy_03_vector", "copy_contiguous", "transpose_13_in_flight", "transpose_registers"};

// GB/s in one round; 0 for a kernel that did not run.
struct Rates {
  double large = 0, small = 0;
};

Stream most_urgent_stream() {
  int least, greatest;
  check(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  cudaStream_t s;
  check(cudaStreamCreateWithPriority(&s, cudaStreamNonBlocking, greatest));
  return Stream(s);
}

class Arena {
 public:
  explicit Arena(CopyCase const& c) : case_(c), large_buffers_(c, current_device().l2_bytes) {
    check(cudaMemset(in_.get(), 1, kSmallBytes));
  }

  std::string checked(CopyCandidate const& large) const {
    return make_checker(case_, call(), large_stream_.get())(large).said;
  }

  CopyCall call() const { return large_buffers_.call(0); }

  // Launches every kernel once: the driver loads a kernel at its first launch, and waits for running kernels to end.
  void load_kernels() {
    set(stopped);
    check(cudaStreamSynchronize(large_stream_.get()));
    idle<<<1, 1, 0, large_stream_.get()>>>(0);
    for (SmallKernel const& small : kSmall) launch(small);
    check(cudaDeviceSynchronize());
  }

  // Runs both concurrently, or one alone if the other is null.
  Rates round(CopyCandidate const* large, SmallKernel const* small) {
    set(waiting);
    check(cudaStreamSynchronize(large_stream_.get()));
    if (small) launch(*small);
    idle<<<1, 1, 0, large_stream_.get()>>>(kSettled);
    set(counting);
    check(cudaEventRecord(begin_.get(), large_stream_.get()));
    if (!large) idle<<<1, 1, 0, large_stream_.get()>>>(kAlone);
    for (int k = 0; large && k < kLaunches; ++k) large->launch(call(), large_stream_.get());
    check(cudaEventRecord(end_.get(), large_stream_.get()));
    set(stopped);
    check(cudaStreamSynchronize(large_stream_.get()));
    check(cudaStreamSynchronize(small_stream_.get()));
    return {large ? large_rate(*large) : 0, small ? small_rate(*small) : 0};
  }

 private:
  static constexpr std::size_t kSmallBytes = 24 << 20;

  void launch(SmallKernel const& small) {
    small.kernel<<<kBlocks, kThreads, 0, small_stream_.get()>>>(
        reinterpret_cast<uint4*>(in_.get()), reinterpret_cast<uint4*>(out_.get()), small.vectors,
        reinterpret_cast<unsigned char*>(state_.get()), reinterpret_cast<Window*>(windows_.get()));
    check(cudaGetLastError());
  }
  void set(State state) { check(cudaMemsetAsync(state_.get(), state, 1, large_stream_.get())); }

  double large_rate(CopyCandidate const& large) const {
    float ms;
    check(cudaEventElapsedTime(&ms, begin_.get(), end_.get()));
    return work(case_, large) * kLaunches / double(ms);
  }
  double small_rate(SmallKernel const& small) const {
    Window windows[kBlocks];
    check(cudaMemcpy(windows, windows_.get(), sizeof windows, cudaMemcpyDeviceToHost));
    double rate = 0;
    for (Window const& w : windows) {
      if (w.passes == 0) throw Error("a block of the small kernel did not run beside the large one");
      rate += double(w.passes) * small.vectors * small.bytes_vector / double(w.nanoseconds);
    }
    return rate;
  }

  Stream large_stream_ = make_stream(), small_stream_ = most_urgent_stream();
  Event begin_ = make_event(), end_ = make_event();
  DeviceMemory in_ = device_memory(kSmallBytes), out_ = device_memory(kSmallBytes), state_ = device_memory(1),
               windows_ = device_memory(kBlocks * sizeof(Window));
  CopyCase case_;
  CaseBuffers<CopyCase> large_buffers_;
};

void print_spread(std::vector<double> const& samples) {
  auto const [median, iqr] = spread(samples);
  std::printf(" %.0f (%.0f) |", median, iqr);
}

// A line for each large copy, and one without. Each round measures all combinations in turn.
void print_table(Arena& arena, std::vector<CopyCandidate> const& copies, int rounds) {
  std::vector<CopyCandidate const*> large{nullptr};
  for (CopyCandidate const& copy : copies) large.push_back(&copy);
  SmallKernel const* const small[] = {nullptr, &kSmall[0], &kSmall[1]};
  std::vector<double> large_rates[1 + std::size(kLarge)][3], small_rates[1 + std::size(kLarge)][3];
  for (int round = 0; round < rounds; ++round)
    for (std::size_t i = 0; i < large.size(); ++i)
      for (std::size_t j = i == 0 ? 1 : 0; j < 3; ++j) {
        Rates const rates = arena.round(large[i], small[j]);
        large_rates[i][j].push_back(rates.large), small_rates[i][j].push_back(rates.small);
      }
  std::printf("| GB/s | alone |");
  for (SmallKernel const& s : kSmall) std::printf(" beside %s |", s.name);
  for (SmallKernel const& s : kSmall) std::printf(" %s |", s.name);
  std::printf("\n|---|--:|--:|--:|--:|--:|\n");
  for (std::size_t i = 0; i < large.size(); ++i) {
    std::printf("| %s |", large[i] ? large[i]->name.c_str() : "nothing");
    for (auto const& samples : large_rates[i])
      if (large[i])
        print_spread(samples);
      else
        std::printf(" |");
    print_spread(small_rates[i][1]);
    print_spread(small_rates[i][2]);
    std::printf("\n");
  }
}

void run(int rounds) {
  CopyCase const c = transpose_case();
  std::vector<CopyCandidate> copies;
  Arena arena(c);
  for (char const* name : kLarge) copies.push_back(of_kernel(kernel_named<CopyCase>(name), c, arena.call()));
  for (CopyCandidate const& copy : copies)
    if (auto const said = arena.checked(copy); said != "ok") throw Error(copy.name + ": " + said);
  arena.load_kernels();
  std::printf("%s, %s, %d rounds\n\n", gpu_name().c_str(), c.sentence().c_str(), rounds);
  print_table(arena, copies, rounds);
}

}  // namespace
}  // namespace inlay::lab

int main(int argc, char** argv) try {
  int const rounds = argc > 1 ? std::atoi(argv[1]) : 15;
  if (rounds < 15) throw inlay::Error("fewer than 15 rounds make no median");
  inlay::lab::run(rounds);
} catch (std::exception const& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 2;
}
