#include <inlay/error.h>
#include <inlay/rank_barrier.h>

#include <string>

namespace inlay {
namespace {

constexpr int kMostRanks = 512;
constexpr long long kPatience = 60'000'000'000;  // nanoseconds

// Each rank has a counter for each other, which that one raises, and behind them the number of barriers that it has
// passed: a captured barrier counts on whenever its graph runs.
struct Signals {
  std::uint64_t* of[kMostRanks];  // (rank)
  int rank, count;
};

__device__ void release(std::uint64_t* p, std::uint64_t value) {
  asm volatile("fence.acq_rel.sys;\n\tst.relaxed.sys.global.u64 [%0], %1;" ::"l"(p), "l"(value) : "memory");
}
__device__ std::uint64_t acquire(std::uint64_t const* p) {
  std::uint64_t value;
  asm volatile("ld.acquire.sys.global.u64 %0, [%1];" : "=l"(value) : "l"(p) : "memory");
  return value;
}
__device__ long long now() {
  long long t;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(t));
  return t;
}

// One block, a thread for each rank.
__global__ void barrier(Signals const __grid_constant__ signals) {
  int const peer = int(threadIdx.x);
  std::uint64_t* const own = signals.of[signals.rank];
  std::uint64_t const passed = own[signals.count] + 1;
  if (signals.of[peer] && peer != signals.rank) {
    release(signals.of[peer] + signals.rank, passed);
    for (long long const begin = now(); acquire(own + peer) < passed;)
      if (now() - begin > kPatience) __trap();  // the timer may step back a little
  }
  __syncthreads();  // all have read the number
  if (peer == 0) own[signals.count] = passed;
}

}  // namespace

void rank_barrier(std::span<void* const> signals, int rank, cudaStream_t stream) {
  if (signals.size() > std::size_t(kMostRanks))
    throw Error("rank_barrier takes at most 512 ranks, not " + std::to_string(signals.size()));
  if (!(rank >= 0 && std::size_t(rank) < signals.size() && signals[std::size_t(rank)]))
    throw Error("rank_barrier: rank " + std::to_string(rank) + " of " + std::to_string(signals.size()) +
                " has no memory for signals");
  Signals s{};
  s.rank = rank, s.count = int(signals.size());
  for (std::size_t p = 0; p < signals.size(); ++p) s.of[p] = static_cast<std::uint64_t*>(signals[p]);
  cudaLaunchConfig_t config{};
  config.gridDim = {1, 1, 1}, config.blockDim = {unsigned(signals.size()), 1, 1}, config.stream = stream;
  detail::check(cudaLaunchKernelEx(&config, barrier, s));
}

}  // namespace inlay
