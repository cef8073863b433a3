// Checks and measures redistributions through NCCL over the GPUs of this host, a thread a rank: by stores, by send and
// receive, and beside NCCL's exchange of the same bytes. `inlay bench redistribute` measures them without NCCL.
// usage: exchange check|measure  (measure prints JSON rows: medians, in microseconds)
#include <inlay/nccl.h>

#include <unistd.h>
#include <cstdio>
#include <cstring>
#include <functional>
#include <numeric>
#include <random>
#include <thread>

#include "measure/sharded_rank.h"
#include "problems/suites.h"

namespace inlay::lab {
namespace {

ncclUniqueId unique_id() {
  ncclUniqueId id;
  detail::check(ncclGetUniqueId(&id));
  return id;
}

// A rank whose destination is a window.
class WindowRank {
 public:
  WindowRank(RankTeam& team, int rank, ncclComm_t comm, std::size_t bytes)
      : team(team),
        ranks_(comm),
        window_(ranks_, bytes),
        workspace_bytes_(bytes + 512),
        workspace_(device_memory(workspace_bytes_)),
        other_(device_memory(bytes)),
        side(team, rank, window_.data(), bytes) {}

  void run(bool staged) {
    RedistributeOptions options{.staged = staged};
    if (staged) options.workspace = workspace_.get(), options.workspace_bytes = workspace_bytes_;
    redistribute(side.dst(), window_, side.src(), side.stream(), options);
  }
  double run_and_compare(ShardedCase const& c, bool staged) {
    side.take(c);
    run(staged);
    side.compare();
    return side.wrong();
  }
  // Rounds without a synchronisation between them: what one rank stores must not reach the reader of the round before.
  double rounds(ShardedCase const& c, int n) {
    side.take(c);
    for (int i = 1; i <= n; ++i) side.next_round(), run(i % 7 == 0), side.compare();
    return side.wrong();
  }
  // Captured, and run on poisoned destinations, with calls that are not captured between.
  double graph(ShardedCase const& c, int times) {
    side.take(c);
    cudaGraph_t captured;
    cudaGraphExec_t instance;
    check(cudaStreamBeginCapture(side.stream(), cudaStreamCaptureModeThreadLocal));
    run(false);
    check(cudaStreamEndCapture(side.stream(), &captured));
    Graph const owner(captured);
    check(cudaGraphInstantiate(&instance, captured, 0));
    GraphExec const executable(instance);
    double wrong = 0;
    for (int i = 0; i < times; ++i) {
      side.take(c);
      check(cudaGraphLaunch(executable.get(), side.stream()));
      side.compare();
      wrong += side.wrong();
      for (int k = 0; k < 3; ++k) run(k == 1);
    }
    return wrong;
  }
  // Whether a part before the window is refused, on all ranks, with nothing launched.
  bool refuses_outside() {
    Sharded outside = side.dst();
    outside.part.data = static_cast<char*>(outside.part.data) - 4;
    try {
      redistribute(outside, window_, side.src(), side.stream());
    } catch (Error const&) {
      return true;
    }
    return false;
  }
  // Whether all ranks say so when the last passes another shape.
  bool compares_arguments() {
    Sharded dst = side.dst();
    ConstSharded src = side.src();
    redistribute(dst, window_, src, side.stream(), {.compare_arguments = true});
    if (rank() == ranks_.count() - 1)
      for (int const other = dst.mode == 0; auto* extent : {&dst.part.extent[other], &src.part.extent[other]})
        --*extent;
    try {
      redistribute(dst, window_, src, side.stream(), {.compare_arguments = true});
    } catch (Error const& e) {
      return std::string(e.what()).ends_with("than rank 0: " + std::to_string(ranks_.count() - 1));
    }
    return false;
  }
  // The bytes for other ranks, by NCCL.
  void all_to_all() {
    std::size_t const each = std::size_t(side.bytes_to_others()) / std::size_t(ranks_.count() - 1);
    detail::check(ncclGroupStart());
    for (int p = 0; p < ranks_.count(); ++p) {
      char const* const from = static_cast<char const*>(side.source()) + std::size_t(p) * each;
      detail::check(ncclSend(from, each, ncclInt8, p, ranks_.comm(), side.stream()));
      detail::check(ncclRecv(other_.get() + std::size_t(p) * each, each, ncclInt8, p, ranks_.comm(), side.stream()));
    }
    detail::check(ncclGroupEnd());
  }
  void barrier() { window_.barrier(side.stream()); }
  std::string said() const { return why(side.dst(), window_, side.src()); }
  int rank() const { return ranks_.rank(); }

  RankTeam& team;

 private:
  Ranks ranks_;
  Window window_;
  std::size_t workspace_bytes_;
  DeviceMemory workspace_, other_;

 public:
  ShardedRank side;
};

// Prints on rank 0 whether all ranks found it right; 1 if not.
int report(WindowRank& rank, std::string const& name, char const* way, bool right) {
  bool const all = rank.team.sum(rank.rank(), right) == rank.team.ranks();
  if (rank.rank() == 0) std::printf("%-24s %-7s %s\n", name.c_str(), way, all ? "ok" : "WRONG");
  return !all;
}

bool check_all(WindowRank& rank) {
  int bad = 0;
  auto const cases = load_redistributions("small");
  for (ShardedCase const& c : cases)
    for (bool staged : {false, true})
      bad += report(rank, c.name, staged ? "staged" : "direct", rank.run_and_compare(c, staged) == 0);
  bad += report(rank, "a graph, 10 times", "direct", rank.graph(cases[1], 10) == 0);
  bad += report(rank, "200 rounds", "both", rank.rounds(cases[1], 200) == 0);
  bad += report(rank, "outside the window", "direct", rank.refuses_outside());
  rank.side.take(cases[0]);
  bad += report(rank, "another shape on a rank", "direct", rank.compares_arguments());
  if (rank.rank() == 0) std::printf("%d of %zu are wrong\n%s", bad, 2 * cases.size() + 4, rank.said().c_str());
  return bad == 0;
}

// Random shapes, permutations, cuts and element sizes, the same on all ranks.
bool fuzz(WindowRank& rank, unsigned seed, int cases) {
  std::mt19937 random(seed);
  auto const below = [&](int n) { return int(random() % unsigned(n)); };
  int bad = 0;
  for (int i = 0; i < cases; ++i) {
    int const sizes[] = {1, 2, 3, 4, 6, 8, 12, 16}, most[] = {20000, 300, 60, 20};
    int const modes = 1 + below(4);
    ShardedCase c{"", {}, {}, below(modes), below(modes), sizes[below(8)]};
    for (int k = 0; k < modes; ++k) c.shape.push_back(1 + below(below(3) ? most[modes - 1] : 9)), c.axes.push_back(k);
    std::shuffle(c.axes.begin(), c.axes.end(), random);
    bool const staged = below(4) == 0;
    if (rank.run_and_compare(c, staged) == 0) continue;
    bad += report(rank, c.sentence(), staged ? "staged" : "direct", false);
  }
  if (rank.rank() == 0) std::printf("%d of %d drawn cases are wrong, seed %u\n", bad, cases, seed);
  return bad == 0;
}

void measure_all(WindowRank& rank) {
  ShardedRank& side = rank.side;
  bool first = true;
  for (ShardedCase const& c : load_redistributions("cases")) {
    double wrong = rank.run_and_compare(c, false);
    int const times = side.bytes_to_others() > (64 << 20) ? 3 : 20;
    double const direct = side.us(times, [&] { rank.run(false); });
    side.compare();
    wrong += side.wrong();
    double const staged = side.us(times, [&] { rank.run(true); });
    side.compare();
    wrong += side.wrong();
    double const nccl = side.us(times, [&] { rank.all_to_all(); });
    double const captured = side.bytes_to_others() < (1 << 20) ? side.captured_us(100, [&] { rank.run(false); }) : 0;
    if (rank.rank() == 0)
      std::printf(
          "%s{\"case\": \"%s\", \"wrong\": %.0f, \"mb_to_others\": %.2f, \"us\": %.2f, \"staged_us\": %.2f, "
          "\"all_to_all_us\": %.2f, \"captured_us\": %.2f, \"of_all_to_all\": %.3f}",
          std::exchange(first, false) ? "[\n" : ",\n", c.name.c_str(), wrong, double(side.bytes_to_others()) * 0x1p-20,
          direct, staged, nccl, captured, nccl / direct);
  }
  double const launched = side.us(50, [&] { rank.barrier(); }),
               captured = side.captured_us(100, [&] { rank.barrier(); });
  if (rank.rank() == 0)
    std::printf(",\n{\"case\": \"a barrier\", \"us\": %.2f, \"captured_us\": %.2f}\n]\n", launched, captured);
}

bool run(RankTeam& team, ncclUniqueId const& id, int r, bool measures) try {
  detail::check(cudaSetDevice(r));
  ncclComm_t comm;
  detail::check(ncclCommInitRank(&comm, team.ranks(), id, r));
  bool right = true;
  {
    WindowRank rank(team, r, comm, measures ? std::size_t(2200) << 20 : std::size_t(16) << 20);
    if (measures)
      measure_all(rank);
    else
      right = check_all(rank) && fuzz(rank, 1, 500);
    detail::check(cudaDeviceSynchronize());
    team.wait();
  }
  detail::check(ncclCommDestroy(comm));
  return right;
} catch (std::exception const& e) {
  std::fprintf(stderr, "exchange, rank %d: %s\n", r, e.what());
  _exit(1);  // NCCL's calls of other ranks wait for this one
}

}  // namespace
}  // namespace inlay::lab

int main(int argc, char** argv) {
  alarm(240);
  std::setvbuf(stdout, nullptr, _IONBF, 0);
  int gpus = 0;
  if (argc != 2 || cudaGetDeviceCount(&gpus) != cudaSuccess || gpus < 2) {
    std::fprintf(stderr, "usage: exchange check|measure, with two GPUs and more\n");
    return 2;
  }
  inlay::lab::RankTeam team(gpus);
  ncclUniqueId const id = inlay::lab::unique_id();
  std::vector<char> right(std::size_t(gpus), 0);
  std::vector<std::thread> threads;
  for (int r = 0; r < gpus; ++r)
    threads.emplace_back(
        [&, r] { right[std::size_t(r)] = inlay::lab::run(team, id, r, std::strcmp(argv[1], "measure") == 0); });
  for (std::thread& t : threads) t.join();
  return right[0] ? 0 : 1;
}
