#include "measure/redistribute.h"

#include <fmt/format.h>
#include <inlay/planner/pushes.h>
#include <inlay/rank_barrier.h>

#include <algorithm>
#include <mutex>
#include <thread>

#include "measure/gpu.h"
#include "measure/sharded_rank.h"
#include "usage_error.h"

namespace inlay::lab {
namespace {

using Done = std::function<void(Redistributed const&)>;

int gpus() {
  int count = 0;
  check(cudaGetDeviceCount(&count));
  return count;
}
int ranks_here() { return std::max(gpus(), 2); }

// The addresses that ranks tell each other.
struct Shared {
  RankTeam team;
  std::vector<void*> parts, signals, others;  // (rank); others: where the copy engine writes to
  std::mutex mutex;
  std::string failed;  // what the first rank that failed says
  explicit Shared(int ranks)
      : team(ranks), parts(std::size_t(ranks)), signals(std::size_t(ranks)), others(std::size_t(ranks)) {}
};

// A rank whose memory others reach by peer access.
class PeerRank {
 public:
  PeerRank(Shared& shared, int rank, std::size_t bytes)
      : shared_(shared),
        destination_(device_memory(bytes)),
        other_(device_memory(bytes)),
        signals_(device_memory(rank_barrier_bytes(shared.team.ranks()))),
        side_(shared.team, rank, destination_.get(), bytes) {
    auto const at = std::size_t(rank);
    check(cudaMemset(signals_.get(), 0, rank_barrier_bytes(shared.team.ranks())));
    check(cudaDeviceSynchronize());
    shared.parts[at] = destination_.get(), shared.signals[at] = signals_.get(), shared.others[at] = other_.get();
    // A barrier of this rank alone. CUDA loads a kernel when it is launched first and may wait for the GPU then: for a
    // rank in a barrier, which waits for this one.
    std::vector<void*> alone(shared.signals.size(), nullptr);
    alone[at] = signals_.get();
    rank_barrier(alone, rank, stream());
    check(cudaDeviceSynchronize());
    check(cudaMemset(signals_.get(), 0, rank_barrier_bytes(shared.team.ranks())));
    check(cudaDeviceSynchronize());
    shared.team.wait();
  }

  void take(ShardedCase const& c) {
    side_.take(c);
    move(), side_.compare();  // so that their kernels are loaded
    check(cudaStreamSynchronize(stream()));
    shared_.team.wait();
    side_.take(c);
  }
  void barrier() { rank_barrier(shared_.signals, side_.rank(), stream()); }
  void move() { redistribute(side_.dst(), shared_.parts, side_.src(), side_.rank(), stream()); }
  void run() { barrier(), move(), barrier(); }
  void copy_by_engine() {
    auto const next = std::size_t((side_.rank() + 1) % shared_.team.ranks());
    check(cudaMemcpyAsync(shared_.others[next], side_.source(), std::size_t(side_.bytes_to_others()),
                          cudaMemcpyDeviceToDevice, stream()));
  }
  // Microseconds, with barriers.
  double predicted_us() const {
    auto const all = transfers(side_.dst(), shared_.parts, side_.src(), side_.rank());
    return 1e6 * planner::plan_of(planner::pushes_of(all, side_.rank()), shared_.team.ranks(), model::current_device())
                     .seconds();
  }
  ShardedRank& side() { return side_; }
  cudaStream_t stream() const { return side_.stream(); }

 private:
  Shared& shared_;
  DeviceMemory destination_, other_, signals_;
  ShardedRank side_;
};

void measure(PeerRank& rank, Redistributed& row) {
  ShardedRank& side = rank.side();
  int const times = side.bytes_to_others() > (64 << 20) ? 3 : 20;
  row.us = side.us(times, [&] { rank.run(); });
  side.compare();
  row.engine_us = side.us(times, [&] { rank.copy_by_engine(); });
  side.poison();
  row.captured_us = side.captured_us(times, [&] { rank.run(); });
  row.predicted_us = rank.predicted_us();
  side.compare();
  row.wrong = side.wrong();
}

void check_rounds(PeerRank& rank, int rounds, Redistributed& row) {
  rank.run();
  rank.side().compare();
  for (int i = 0; i < rounds; ++i) rank.side().next_round(), rank.run(), rank.side().compare();
  row.wrong = rank.side().wrong();
}

using Act = std::function<void(PeerRank&, Redistributed&)>;

// What the thread of a rank does.
void run_rank(Shared& shared, int rank, std::vector<ShardedCase> const& cases, std::size_t bytes, Act const& act,
              Done const& done) try {
  check(cudaSetDevice(rank % gpus()));
  for (int p = 0; p < gpus(); ++p)
    if (p != rank % gpus())
      if (cudaError_t const s = cudaDeviceEnablePeerAccess(p, 0); s != cudaErrorPeerAccessAlreadyEnabled) check(s);
  static_cast<void>(cudaGetLastError());
  PeerRank peer(shared, rank, bytes);
  for (ShardedCase const& c : cases) {
    Redistributed row;
    row.problem = c, row.ranks = shared.team.ranks();
    peer.take(c);
    row.bytes_to_others = double(peer.side().bytes_to_others());
    act(peer, row);
    if (rank == 0) done(row);
  }
  check(cudaDeviceSynchronize());
  shared.team.wait();  // before memory is freed
} catch (std::exception const& e) {
  {
    std::lock_guard const lock(shared.mutex);
    if (shared.failed.empty()) shared.failed = fmt::format("rank {}: {}", rank, e.what());
  }
  shared.team.leave();
}

void run_all(std::vector<ShardedCase> const& cases, Act const& act, Done const& done) {
  if (auto const why = why_no_gpu(); !why.empty()) throw UsageError("redistributions need a GPU: " + why);
  int const ranks = ranks_here();
  std::size_t bytes = 256;
  for (ShardedCase const& c : cases) bytes = std::max(bytes, std::size_t(c.part_bytes(ranks)));
  std::size_t const needed = 3 * bytes * std::size_t(ranks / gpus());
  for (int g = 0; g < gpus(); ++g) {
    for (int p = 0; p < gpus(); ++p) {
      int can = p == g;
      if (!can) check(cudaDeviceCanAccessPeer(&can, g, p));
      if (!can) throw UsageError(fmt::format("GPU {} cannot store to the memory of GPU {}", g, p));
    }
    std::size_t free = 0, total = 0;
    check(cudaSetDevice(g));
    check(cudaMemGetInfo(&free, &total));
    if (needed > free)
      throw UsageError(fmt::format("the cases take {} bytes on GPU {}, which has {} free", needed, g, free));
  }
  check(cudaSetDevice(0));
  Shared shared(ranks);
  std::vector<std::thread> threads;
  for (int r = 0; r < ranks; ++r) threads.emplace_back([&, r] { run_rank(shared, r, cases, bytes, act, done); });
  for (std::thread& t : threads) t.join();
  if (!shared.failed.empty()) throw Error(shared.failed);
}

}  // namespace

std::string redistribution_devices() {
  return gpus() > 1 ? fmt::format("{} x {}", gpus(), gpu_name()) : fmt::format("2 ranks on one {}", gpu_name());
}

void redistribute_on_gpus(std::vector<ShardedCase> const& cases, Done const& done) { run_all(cases, measure, done); }
void check_redistributions(std::vector<ShardedCase> const& cases, int rounds, Done const& done) {
  run_all(
      cases, [rounds](PeerRank& rank, Redistributed& row) { check_rounds(rank, rounds, row); }, done);
}

}  // namespace inlay::lab
