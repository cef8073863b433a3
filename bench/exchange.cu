// Checks and measures redistributions over the GPUs of this host, a thread a rank: by stores, by send and receive, and beside what
// moves the same bytes without a transpose.
// usage: exchange check|measure  (measure prints JSON rows: medians, in microseconds)
#include <inlay/nccl.h>

#include <unistd.h>
#include <barrier>
#include <cstdio>
#include <cstring>
#include <functional>
#include <numeric>
#include <random>
#include <thread>

namespace inlay {
namespace {

using Extents = std::vector<std::int64_t>;
constexpr int kMostModes = 5;

// A tensor that is cut along `from`, and comes as its modes in the order `axes`, cut along `to` (a mode of the result).
struct Case {
  char const* name;
  DType type;
  Extents shape;
  std::vector<int> axes;
  int from, to;
};

struct Part {
  std::int64_t extent[kMostModes]{1, 1, 1, 1, 1}, begin[kMostModes]{},
      step[kMostModes]{};  // of the whole tensor's linear index, by mode
  std::int64_t elements = 1;
  std::int64_t round = 0;  // each has other contents
};

__device__ unsigned char byte_of(std::int64_t index, int i) {
  std::uint64_t x = std::uint64_t(index + 1) * 0x9E3779B97F4A7C15u;
  x ^= x >> 29, x *= 0xBF58476D1CE4E5B9u, x ^= x >> 32;
  return static_cast<unsigned char>(x >> 8 * (i % 8));
}
// All modes, with constant indices: nvcc 13.0 was seen to read another member for step[0] of a parameter in a loop from rank - 1 down.
__device__ std::int64_t index_in_whole(Part const& p, std::int64_t i) {
  std::int64_t index = p.round << 40;
#pragma unroll
  for (int k = kMostModes - 1; k >= 0; --k) index += (p.begin[k] + i % p.extent[k]) * p.step[k], i /= p.extent[k];
  return index;
}
__global__ void fill(unsigned char* to, Part p, int bytes) {
  std::int64_t const i = blockIdx.x * std::int64_t(blockDim.x) + threadIdx.x;
  if (i >= p.elements) return;
  std::int64_t const index = index_in_whole(p, i);
  for (int b = 0; b < bytes; ++b) to[i * bytes + b] = byte_of(index, b);
}
__global__ void count_wrong(unsigned char const* from, Part p, int bytes, unsigned long long* wrong) {
  std::int64_t const i = blockIdx.x * std::int64_t(blockDim.x) + threadIdx.x;
  if (i >= p.elements) return;
  std::int64_t const index = index_in_whole(p, i);
  bool right = true;
  for (int b = 0; b < bytes; ++b) right &= from[i * bytes + b] == byte_of(index, b);
  if (!right) atomicAdd(wrong, 1ull);
}

struct Event {
  cudaEvent_t id{};
  Event() { detail::check(cudaEventCreate(&id)); }
  ~Event() { cudaEventDestroy(id); }
};

// What the threads share.
struct Team {
  int ranks;
  ncclUniqueId id;
  std::barrier<> sync;
  std::vector<float> ms;
  std::vector<unsigned long long> wrong;
  std::vector<void*> peer;  // of plain copies
  bool failed = false;
  explicit Team(int n) : ranks(n), sync(n), ms(std::size_t(n)), wrong(std::size_t(n)), peer(std::size_t(n)) {
    detail::check(ncclGetUniqueId(&id));
  }
};

std::vector<Case> const& small_cases() {
  using enum DType;
  static std::vector<Case> const cases{
      {"transpose", f32, {640, 512}, {1, 0}, 0, 0},
      {"transpose, odd", f32, {301, 517}, {1, 0}, 0, 0},
      {"transpose, odd, u8", u8, {301, 517}, {1, 0}, 0, 0},
      {"transpose, odd, b24", b24, {31, 57}, {1, 0}, 0, 0},
      {"rows to columns", f64, {300, 200}, {0, 1}, 0, 1},
      {"columns to rows", bf16, {300, 201}, {0, 1}, 1, 0},
      {"rows to rows", f32, {301, 20}, {0, 1}, 0, 0},
      {"heads", bf16, {128, 16, 64}, {0, 1, 2}, 0, 1},
      {"heads of a batch", bf16, {2, 127, 8, 64}, {0, 2, 1, 3}, 1, 1},
      {"pencils", f64, {40, 36, 28}, {1, 2, 0}, 0, 0},
      {"pencils, odd", f64, {41, 37, 29}, {1, 0, 2}, 0, 0},
      {"experts", bf16, {128, 8, 96}, {1, 0, 2}, 0, 0},
      {"one row", f32, {1, 100}, {1, 0}, 0, 0},
      {"nothing", f32, {0, 100}, {1, 0}, 0, 0},
      {"16 bytes", b128, {33, 65}, {1, 0}, 0, 0},
  };
  return cases;
}

class Rank {
 public:
  Rank(Team& team, int rank, ncclComm_t comm, std::size_t bytes)
      : team_(team), rank_(rank), ranks_(comm), window_(ranks_, bytes) {
    detail::check(cudaStreamCreate(&stream_));
    for (void** p : {&src_, &other_, &workspace_}) detail::check(cudaMalloc(p, bytes + 512));
    workspace_bytes_ = bytes + 512;
    detail::check(cudaMalloc(&wrong_, sizeof *wrong_));
    team.peer[std::size_t(rank)] = other_;
    for (int p = 0; p < team.ranks; ++p)
      if (p != rank)
        if (cudaError_t const s = cudaDeviceEnablePeerAccess(p, 0); s != cudaErrorPeerAccessAlreadyEnabled)
          detail::check(s);
    static_cast<void>(cudaGetLastError());
    team.sync.arrive_and_wait();
  }

  // The case's two sides on this rank.
  void take(Case const& c) {
    c_ = c;
    int const n = int(c.shape.size());
    Extents const from = even_extents(c.shape[std::size_t(c.from)], team_.ranks);
    Extents local = c.shape;
    local[std::size_t(c.from)] = from[std::size_t(rank_)];
    ConstSharded const whole{tensor(static_cast<void const*>(src_), c.type, local), c.from, from};
    src = whole.permuted(c.axes);
    std::int64_t steps[kMostModes];
    for (std::int64_t k = n - 1, step = 1; k >= 0; step *= c.shape[std::size_t(k--)]) steps[k] = step;
    Extents out;
    for (int a : c.axes) out.push_back(c.shape[std::size_t(a)]);
    Extents const to = even_extents(out[std::size_t(c.to)], team_.ranks);
    Extents most = out;
    most[std::size_t(c.to)] = to[0];  // strides are the same on all ranks
    Tensor part = tensor(window_.data(), c.type, most);
    part.extent[c.to] = to[std::size_t(rank_)];
    dst = {part, c.to, to};
    in_ = {}, out_ = {};
    for (int k = 0; k < n; ++k) {
      in_.extent[k] = local[std::size_t(k)], in_.step[k] = steps[k], in_.elements *= in_.extent[k];
      out_.extent[k] = part.extent[k], out_.step[k] = steps[c.axes[std::size_t(k)]], out_.elements *= out_.extent[k];
    }
    in_.begin[c.from] = std::accumulate(from.begin(), from.begin() + rank_, std::int64_t(0));
    out_.begin[c.to] = std::accumulate(to.begin(), to.begin() + rank_, std::int64_t(0));
    if (in_.elements)
      fill<<<unsigned((in_.elements + 255) / 256), 256, 0, stream_>>>(static_cast<unsigned char*>(src_), in_,
                                                                      bytes_of(c.type));
    detail::check(cudaMemsetAsync(window_.data(), 0xA5, window_.bytes(), stream_));
    detail::check(cudaStreamSynchronize(stream_));
    team_.sync.arrive_and_wait();
  }
  void run(bool staged) {
    RedistributeOptions options{.staged = staged};
    if (staged) options.workspace = workspace_, options.workspace_bytes = workspace_bytes_;
    redistribute(dst, window_, src, stream_, options);
  }
  // Rounds of other contents, without a synchronisation between them: what one rank stores must not reach the reader of the round
  // before. Elements that are wrong on all ranks.
  unsigned long long rounds(int n) {
    take(small_cases()[1]);
    detail::check(cudaMemsetAsync(wrong_, 0, sizeof *wrong_, stream_));
    for (int i = 1; i <= n; ++i) {
      in_.round = out_.round = i;
      fill<<<unsigned((in_.elements + 255) / 256), 256, 0, stream_>>>(static_cast<unsigned char*>(src_), in_,
                                                                      bytes_of(c_.type));
      run(i % 7 == 0);
      count_wrong<<<unsigned((out_.elements + 255) / 256), 256, 0, stream_>>>(
          static_cast<unsigned char const*>(window_.data()), out_, bytes_of(c_.type), wrong_);
    }
    return all_wrong();
  }
  // Whether a part before the window is refused, on all ranks, with nothing launched.
  bool refuses_outside() {
    Sharded outside = dst;
    outside.part.data = static_cast<char*>(outside.part.data) - 4;
    try {
      redistribute(outside, window_, src, stream_);
    } catch (Error const&) {
      return true;
    }
    return false;
  }
  // Elements that are wrong on all ranks. Only a destination that is cut along its first mode is contiguous.
  unsigned long long wrong() {
    detail::check(cudaMemsetAsync(wrong_, 0, sizeof *wrong_, stream_));
    unsigned char const* at = static_cast<unsigned char const*>(window_.data());
    if (c_.to != 0) {  // pack it
      copy(tensor(other_, c_.type, std::span<std::int64_t const>(dst.part.extent, std::size_t(dst.part.rank))),
           dst.part, stream_);
      at = static_cast<unsigned char const*>(other_);
    }
    if (out_.elements)
      count_wrong<<<unsigned((out_.elements + 255) / 256), 256, 0, stream_>>>(at, out_, bytes_of(c_.type), wrong_);
    return all_wrong();
  }
  unsigned long long all_wrong() {
    detail::check(
        cudaMemcpyAsync(&team_.wrong[std::size_t(rank_)], wrong_, sizeof *wrong_, cudaMemcpyDeviceToHost, stream_));
    detail::check(cudaStreamSynchronize(stream_));
    team_.sync.arrive_and_wait();
    unsigned long long const all = std::accumulate(team_.wrong.begin(), team_.wrong.end(), 0ull);
    team_.sync.arrive_and_wait();
    return all;
  }
  // Microseconds of f on the slowest rank: the median of nine times `times` calls.
  double us(int times, std::function<void()> const& f) {
    std::vector<double> all;
    for (int round = 0; round < 10; ++round) {
      detail::check(cudaStreamSynchronize(stream_));
      team_.sync.arrive_and_wait();
      detail::check(cudaEventRecord(begin_.id, stream_));
      for (int i = 0; i < times; ++i) f();
      detail::check(cudaEventRecord(end_.id, stream_));
      detail::check(cudaEventSynchronize(end_.id));
      detail::check(cudaEventElapsedTime(&team_.ms[std::size_t(rank_)], begin_.id, end_.id));
      team_.sync.arrive_and_wait();
      if (round) all.push_back(1e3 * *std::max_element(team_.ms.begin(), team_.ms.end()) / times);
      team_.sync.arrive_and_wait();
    }
    std::sort(all.begin(), all.end());
    return all[all.size() / 2];
  }
  // The same of a graph of n calls, for each.
  double captured_us(int n, std::function<void()> const& f) {
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    detail::check(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal));
    for (int i = 0; i < n; ++i) f();
    detail::check(cudaStreamEndCapture(stream_, &graph));
    detail::check(cudaGraphInstantiate(&executable, graph, 0));
    return us(3, [&] { detail::check(cudaGraphLaunch(executable, stream_)); }) / n;
  }
  // The bytes for other ranks, by the copy engine, all ranks at once; and by NCCL.
  void copy_by_engine() {
    std::size_t const bytes = remote_bytes();
    int const next = (rank_ + 1) % team_.ranks;
    detail::check(cudaMemcpyPeerAsync(team_.peer[std::size_t(next)], next, src_, rank_, bytes, stream_));
  }
  void all_to_all() {
    std::size_t const each = remote_bytes() / std::size_t(team_.ranks - 1);
    detail::check(ncclGroupStart());
    for (int p = 0; p < team_.ranks; ++p) {
      detail::check(
          ncclSend(static_cast<char*>(src_) + std::size_t(p) * each, each, ncclInt8, p, ranks_.comm(), stream_));
      detail::check(
          ncclRecv(static_cast<char*>(other_) + std::size_t(p) * each, each, ncclInt8, p, ranks_.comm(), stream_));
    }
    detail::check(ncclGroupEnd());
  }
  std::size_t remote_bytes() const {
    return std::size_t(in_.elements * bytes_of(c_.type) / team_.ranks * (team_.ranks - 1));
  }
  void barrier() { window_.barrier(stream_); }
  std::string said() const { return why(dst, window_, src); }
  int rank() const { return rank_; }
  cudaStream_t stream() const { return stream_; }

  Sharded dst;
  ConstSharded src;

 private:
  Team& team_;
  int rank_;
  Ranks ranks_;
  Window window_;
  Case c_{};
  Part in_{}, out_{};
  Event begin_, end_;
  cudaStream_t stream_ = nullptr;
  void *src_ = nullptr, *other_ = nullptr, *workspace_ = nullptr;
  std::size_t workspace_bytes_ = 0;
  unsigned long long* wrong_ = nullptr;
};

// Whether all is right, as rank 0 sees it.
bool check_all(Rank& rank) {
  int bad = 0;
  for (Case const& c : small_cases())
    for (bool staged : {false, true}) {
      rank.take(c);
      rank.run(staged);
      unsigned long long const wrong = rank.wrong();
      if (rank.rank() == 0)
        std::printf("%-24s %-7s %s\n", c.name, staged ? "staged" : "direct", wrong ? "WRONG" : "ok"), bad += wrong != 0;
    }
  // Captured, and run several times on a poisoned destination, with calls that are not captured between.
  rank.take(small_cases()[1]);
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  detail::check(cudaStreamBeginCapture(rank.stream(), cudaStreamCaptureModeThreadLocal));
  rank.run(false);
  detail::check(cudaStreamEndCapture(rank.stream(), &graph));
  detail::check(cudaGraphInstantiate(&executable, graph, 0));
  unsigned long long wrong = 0;
  for (int i = 0; i < 10; ++i) {
    rank.take(small_cases()[1]);
    detail::check(cudaGraphLaunch(executable, rank.stream()));
    wrong += rank.wrong();
    for (int k = 0; k < 3; ++k) rank.run(k == 1);
  }
  if (rank.rank() == 0)
    std::printf("%-24s %-7s %s\n", "a graph, 10 times", "direct", wrong ? "WRONG" : "ok"), bad += wrong != 0;
  unsigned long long const in_rounds = rank.rounds(200);
  if (rank.rank() == 0)
    std::printf("%-24s %-7s %s\n", "200 rounds", "both", in_rounds ? "WRONG" : "ok"), bad += in_rounds != 0;
  bool const refused = rank.refuses_outside();
  if (rank.rank() == 0)
    std::printf("%-24s %-7s %s\n", "outside the window", "direct", refused ? "ok" : "WRONG"), bad += !refused;
  if (rank.rank() == 0)
    std::printf("%d of %zu cases are wrong\n%s", bad, 2 * small_cases().size() + 3, rank.said().c_str());
  return bad == 0;
}

// Random shapes, permutations, cuts and types, the same on all ranks. Whether all are right.
bool fuzz(Rank& rank, unsigned seed, int cases) {
  using enum DType;
  std::mt19937 random(seed);
  auto const below = [&](int n) { return int(random() % unsigned(n)); };
  int bad = 0;
  for (int i = 0; i < cases; ++i) {
    DType const types[] = {u8, bf16, b24, f32, b48, f64, b96, b128};
    int const modes = 1 + below(4);
    Case c{"fuzz", types[below(8)], {}, {}, below(modes), below(modes)};
    int const most[] = {20000, 300, 60, 20};
    for (int k = 0; k < modes; ++k) c.shape.push_back(1 + below(below(3) ? most[modes - 1] : 9)), c.axes.push_back(k);
    std::shuffle(c.axes.begin(), c.axes.end(), random);
    bool const staged = below(4) == 0;
    rank.take(c);
    rank.run(staged);
    unsigned long long const wrong = rank.wrong();
    if (wrong && rank.rank() == 0) {
      std::printf("WRONG: %llu elements, %s%s, cut along %d and %d:", wrong, name_of(c.type), staged ? ", staged" : "",
                  c.from, c.to);
      for (int k = 0; k < modes; ++k)
        std::printf(" %lld to %d", static_cast<long long>(c.shape[std::size_t(k)]), c.axes[std::size_t(k)]);
      std::printf("\n"), ++bad;
    }
  }
  if (rank.rank() == 0) std::printf("%d of %d drawn cases are wrong, seed %u\n", bad, cases, seed);
  return bad == 0;
}

void measure_all(Rank& rank) {
  using enum DType;
  std::vector<Case> const cases{
      {"transpose 4096 x 4096, f32", f32, {4096, 4096}, {1, 0}, 0, 0},
      {"transpose 8192 x 8192, f32", f32, {8192, 8192}, {1, 0}, 0, 0},
      {"transpose 16384 x 16384, f32", f32, {16384, 16384}, {1, 0}, 0, 0},
      {"transpose 32768 x 32768, f32", f32, {32768, 32768}, {1, 0}, 0, 0},
      {"transpose 16384 x 16384, bf16", bf16, {16384, 16384}, {1, 0}, 0, 0},
      {"transpose 16384 x 16384, u8", u8, {16384, 16384}, {1, 0}, 0, 0},
      {"heads, 16384 x 64 x 128, bf16", bf16, {16384, 64, 128}, {0, 1, 2}, 0, 1},
      {"heads, 4 x 8192 x 32 x 128, bf16", bf16, {4, 8192, 32, 128}, {0, 2, 1, 3}, 1, 1},
      {"pencils 640 to y z x, complex64", f64, {640, 640, 640}, {1, 2, 0}, 0, 0},
      {"pencils 640 to y x z, complex64", f64, {640, 640, 640}, {1, 0, 2}, 0, 0},
      {"pencils 602 x 606 x 599 to y z x, complex64", f64, {602, 606, 599}, {1, 2, 0}, 0, 0},
      {"rows to columns 16384 x 16384, f32", f32, {16384, 16384}, {0, 1}, 0, 1},
      {"experts 65536 x 16 x 512, bf16", bf16, {65536, 16, 512}, {1, 0, 2}, 0, 0},
      {"transpose 16002 x 16006, bf16", bf16, {16002, 16006}, {1, 0}, 0, 0},
      {"transpose 16002 x 16006, u8", u8, {16002, 16006}, {1, 0}, 0, 0},
      {"transpose 1024 x 512, f32", f32, {1024, 512}, {1, 0}, 0, 0},
  };
  bool first = true;
  for (Case const& c : cases) {
    rank.take(c);
    rank.run(false);
    unsigned long long wrong = rank.wrong();
    int const times = rank.remote_bytes() > (std::size_t(64) << 20) ? 3 : 20;
    double const direct = rank.us(times, [&] { rank.run(false); });
    wrong += rank.wrong();
    double const staged = rank.us(times, [&] { rank.run(true); });
    double const engine = rank.us(times, [&] { rank.copy_by_engine(); }),
                 nccl = rank.us(times, [&] { rank.all_to_all(); });
    double captured = 0;
    if (rank.remote_bytes() < (std::size_t(1) << 20)) captured = rank.captured_us(100, [&] { rank.run(false); });
    if (rank.rank() == 0)
      std::printf(
          "%s{\"case\": \"%s\", \"wrong\": %llu, \"mb_to_others\": %.2f, \"us\": %.2f, \"staged_us\": %.2f, "
          "\"copy_engine_us\": %.2f, "
          "\"all_to_all_us\": %.2f, \"captured_us\": %.2f, \"of_copy_engine\": %.3f, \"of_all_to_all\": %.3f}",
          std::exchange(first, false) ? "[\n" : ",\n", c.name, wrong, double(rank.remote_bytes()) / (1 << 20), direct,
          staged, engine, nccl, captured, engine / direct, nccl / direct);
  }
  double const launched = rank.us(50, [&] { rank.barrier(); }),
               captured = rank.captured_us(100, [&] { rank.barrier(); });
  if (rank.rank() == 0)
    std::printf(",\n{\"case\": \"a barrier\", \"us\": %.2f, \"captured_us\": %.2f}\n]\n", launched, captured);
}

void run(Team& team, int r, bool measures) try {
  detail::check(cudaSetDevice(r));
  ncclComm_t comm;
  detail::check(ncclCommInitRank(&comm, team.ranks, team.id, r));
  {
    Rank rank(team, r, comm, measures ? std::size_t(2200) << 20 : std::size_t(16) << 20);
    if (measures)
      measure_all(rank);
    else if (!check_all(rank) || !fuzz(rank, 1, 500))
      team.failed = true;
    detail::check(cudaDeviceSynchronize());
    team.sync.arrive_and_wait();
  }
  detail::check(ncclCommDestroy(comm));
} catch (std::exception const& e) {
  std::fprintf(stderr, "exchange, rank %d: %s\n", r, e.what());
  _exit(1);  // the threads of the other ranks wait in a barrier for this one and cannot be joined
}

}  // namespace
}  // namespace inlay

int main(int argc, char** argv) {
  alarm(240);
  std::setvbuf(stdout, nullptr, _IONBF, 0);
  int gpus = 0;
  if (argc != 2 || cudaGetDeviceCount(&gpus) != cudaSuccess || gpus < 2) {
    std::fprintf(stderr, "usage: exchange check|measure, with two GPUs and more\n");
    return 2;
  }
  inlay::Team team(gpus);
  std::vector<std::thread> threads;
  for (int r = 0; r < gpus; ++r)
    threads.emplace_back([&, r] { inlay::run(team, r, std::strcmp(argv[1], "measure") == 0); });
  for (std::thread& t : threads) t.join();
  return team.failed;
}
