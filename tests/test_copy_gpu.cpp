// Copies between any layouts on the GPU: hard cases and thousands of random ones, by the public function and by every
// kernel that takes them; huge ones; captured, planned, and from many threads.
#include <inlay/planner/candidate.h>

#include <iostream>

#include "copy_corpus.h"
#include "gpu.h"
#include "measure/device_data.h"

namespace inlay::test {
namespace {
using planner::candidates, planner::Candidate, model::current_device;

constexpr std::size_t kBand = 4096;

// Buffers that many cases use in turn: the source has random bytes, the destination is poisoned, bands around both.
class Bench {
 public:
  explicit Bench(std::size_t most)
      : most_(most), src_(device_buffer(most + 2 * kBand)), dst_(device_buffer(most + 2 * kBand)) {
    std::mt19937_64 rng(5);
    bytes_.resize(most + 2 * kBand);
    for (std::size_t i = 0; i + 8 <= bytes_.size(); i += 8) {
      std::uint64_t const x = rng();
      std::memcpy(&bytes_[i], &x, 8);
    }
    check(cudaMemcpy(src_.get(), bytes_.data(), bytes_.size(), cudaMemcpyHostToDevice));
  }
  char* in() const { return src_.get() + kBand; }
  char* out() const { return dst_.get() + kBand; }
  bool holds(Copied const& c) const { return c.src_bytes() <= most_ && c.dst_bytes() <= most_; }

  // Runs f on a poisoned destination; the bytes that are not what they should be.
  template <class F>
  std::int64_t wrong_after(Copied const& c, F const& f) {
    std::size_t const n = c.dst_bytes() + 2 * kBand;
    check(cudaMemset(dst_.get(), 0xA5, n));
    check(cudaDeviceSynchronize());  // streams of their own do not wait for it
    f();
    check(cudaDeviceSynchronize());
    std::vector<char> got(n), applies(n, char(0xA5));
    check(cudaMemcpy(got.data(), dst_.get(), n, cudaMemcpyDeviceToHost));
    Numbers at(c.extents.size(), 0);
    char const* const from0 = c.src_at(bytes_.data() + kBand);
    char* const to0 = c.dst_at(applies.data() + kBand);
    for (std::int64_t i = 0; i < c.elements(); ++i) {
      std::int64_t from = 0, to = 0;
      for (std::size_t k = 0; k < at.size(); ++k) from += at[k] * c.src[k], to += at[k] * c.dst[k];
      std::memcpy(to0 + to * c.elem, from0 + from * c.elem, std::size_t(c.elem));
      for (std::size_t k = 0; k < at.size() && ++at[k] == c.extents[k]; ++k) at[k] = 0;
    }
    std::int64_t wrong = 0;
    for (std::size_t i = 0; i < n; ++i) wrong += got[i] != applies[i];
    return wrong;
  }
  // By the public function and by every kernel; how many kernels took it.
  int all_ways(Copied const& c) {
    SCOPED_TRACE(c.text());
    EXPECT_EQ(wrong_after(c, [&] { copy(c.destination(out()), c.source(in())); }), 0) << "bytes, by copy";
    int took = 0;
    Copy const problem = c.copy(in(), out());
    for (Candidate<Copy> const& row : candidates<Copy>()) {
      if (c.elements() == 0 || row.kernel->rejects(problem, current_device())) continue;
      ++took;
      EXPECT_EQ(wrong_after(c, [&] { row.kernel->run(problem, current_device(), nullptr, nullptr); }), 0)
          << "bytes, by " << row.kernel->name;
      if (!row.kernel->takes_lists) continue;
      Copy list = problem;
      list.pairs = 2;
      auto const made = row.kernel->make(list, current_device(), false);
      model::Pair const pair{problem.dst, problem.src};
      EXPECT_EQ(wrong_after(c, [&] { made->run(std::span(&pair, 1), nullptr); }), 0)
          << "bytes, by the list kernel of " << row.kernel->name;
    }
    return took;
  }

 private:
  std::size_t most_;
  std::vector<char> bytes_;
  DeviceBuffer src_, dst_;
};

// Each kernel may start before the one before it has ended, and read what that one writes. A buffer that an earlier
// kernel has read is written again meanwhile: the L1 of a multiprocessor may hold what was there before.
TEST(GpuCopies, AlongAChainOfSmallOnes) {
  NEEDS_GPU();
  for (auto const& [elem, rows, cols] :
       {std::array{4, 64, 64}, {1, 100, 36}, {2, 33, 129}, {8, 16, 16}, {16, 40, 24}, {4, 250, 250}}) {
    std::size_t const bytes = std::size_t(elem) * std::size_t(rows) * std::size_t(cols);
    SCOPED_TRACE(std::to_string(elem) + " B, " + std::to_string(rows) + " x " + std::to_string(cols));
    for (bool transposes : {false, true}) {
      std::vector<char> first(bytes), second(bytes), together(bytes), apart(bytes);
      std::mt19937_64 rng(bytes);
      for (char& c : first) c = char(rng());
      for (char& c : second) c = char(rng());
      DeviceBuffer const A = device_buffer(first), B = device_buffer(second), X = device_buffer(bytes),
                         Y = device_buffer(bytes);
      auto const move = [&](DeviceBuffer const& to, DeviceBuffer const& from) {
        ConstTensor const source = tensor(static_cast<void const*>(from.get()), opaque(elem), {rows, cols});
        if (transposes)
          transpose(tensor(static_cast<void*>(to.get()), opaque(elem), {cols, rows}), source);
        else
          copy(tensor(static_cast<void*>(to.get()), opaque(elem), {rows, cols}), source);
      };
      auto const fetch = [&](std::vector<char>& to) {
        check(cudaDeviceSynchronize());
        check(cudaMemcpy(to.data(), Y.get(), bytes, cudaMemcpyDeviceToHost));
      };
      for (int i = 0; i < 100; ++i) move(X, i % 2 ? A : B), move(Y, X);
      fetch(together);
      move(X, A), check(cudaDeviceSynchronize()), move(Y, X);
      fetch(apart);
      EXPECT_TRUE(together == apart);
    }
  }
}

TEST(GpuCopies, HardOnesByEveryKernel) {
  NEEDS_GPU();
  Bench bench(4 << 20);
  for (Copied const& c : hard_cases()) {
    ASSERT_TRUE(bench.holds(c)) << c.text();
    bench.all_ways(c);
    if (HasFailure()) return;
  }
}

TEST(GpuCopies, RandomOnesByEveryKernel) {
  NEEDS_GPU();
  constexpr unsigned kSeed = 1830;
  std::cout << "seed " << kSeed << "\n";
  std::mt19937 rng(kSeed);
  Bench bench(8 << 20);
  for (int i = 0, ran = 0; ran < 3000; ++i) {
    Copied const c = random_copy(rng, 1 << (6 + i % 12));
    if (!bench.holds(c)) continue;
    ++ran;
    bench.all_ways(c);
    if (HasFailure()) return;
  }
}

// ---- beyond 2^31 and 2^32 elements; compared on the device, by nobody's arithmetic but lab's
void huge(Copied const& c) {
  SCOPED_TRACE(c.text());
  auto const round = [](std::size_t n) { return (n + 1023) / 1024 * 1024; };
  std::size_t const in_bytes = round(c.src_bytes()), out_bytes = round(c.dst_bytes());
  DeviceBuffer const in = device_buffer(in_bytes), out = device_buffer(out_bytes);
  lab::fill(in.get(), std::int64_t(in_bytes / 4), nullptr);
  Copy const problem = c.copy(in.get(), out.get());
  lab::Strided s{problem.elem_bytes,
                 problem.rank,
                 {},
                 {},
                 {},
                 static_cast<char const*>(problem.src) - in.get(),
                 static_cast<char const*>(problem.dst) - out.get()};
  for (int k = 0; k < problem.rank; ++k)
    s.extent[k] = problem.mode[k].extent, s.src[k] = problem.mode[k].src_stride, s.dst[k] = problem.mode[k].dst_stride;
  auto const right = [&](auto const& run) {
    check(cudaMemset(out.get(), lab::kPoison, out_bytes));
    run();
    auto const [wrong, stray] = lab::check_strided({out.get()}, s, std::int64_t(out_bytes), nullptr);
    EXPECT_EQ(wrong.count, 0) << "elements, the first is " << wrong.first;
    EXPECT_EQ(stray.count, 0) << "bytes beside them";
  };
  right([&] { copy(c.destination(out.get()), c.source(in.get())); });
  for (Candidate<Copy> const& row : candidates<Copy>()) {
    SCOPED_TRACE(row.kernel->name);
    if (!row.kernel->rejects(problem, current_device()))
      right([&] { row.kernel->run(problem, current_device(), nullptr, nullptr); });
  }
}
constexpr std::int64_t k31 = std::int64_t(1) << 31, k32 = std::int64_t(1) << 32;
TEST(GpuCopies, MoreThan2To31Elements) {
  NEEDS_GPU_MEMORY(6 * k31);
  huge(permuted("transpose", 1, {46349, 46351}, {1, 0}));
  huge(permuted("planes", 1, {3, (k31 + 100) / 3}, {1, 0}));
  huge(permuted("a run", 1, {k31 + 17}, {0}, 1, 2));
  huge(permuted("matrices", 1, {17, 13, k31 / 200}, {1, 0, 2}));
}
TEST(GpuCopies, MoreThan2To32Elements) {
  NEEDS_GPU_MEMORY(5 * k31);
  huge(permuted("transpose", 1, {65537, 65539}, {1, 0}));
  huge(permuted("a run", 1, {k32 + 17}, {0}));
}
TEST(GpuCopies, OffsetsBeyond32BitsByStridesAlone) {
  NEEDS_GPU_MEMORY(6 * k31);
  huge({"far apart", 4, {50, 60, 3}, {60, 1, k31 / 6}, {1, 50, k31 / 5}});
}

// ---- graphs, plans, threads
TEST(GpuCopies, AreCapturedAndReplayed) {
  NEEDS_GPU();
  Bench bench(1 << 20);
  Copied const c = permuted("heads", 2, {64, 7, 33, 2}, {0, 2, 1, 3});
  Stream const stream;
  cudaGraph_t graph{};
  cudaGraphExec_t executable{};
  check(cudaStreamBeginCapture(stream.id, cudaStreamCaptureModeGlobal));
  copy(c.destination(bench.out()), c.source(bench.in()), stream.id);
  check(cudaStreamEndCapture(stream.id, &graph));
  check(cudaGraphInstantiate(&executable, graph, 0));
  EXPECT_EQ(bench.wrong_after(c, [&] { check(cudaGraphLaunch(executable, stream.id)); }), 0);
  check(cudaGraphExecDestroy(executable));
  check(cudaGraphDestroy(graph));
}
TEST(GpuCopies, ByPlansPredictedAndMeasured) {
  NEEDS_GPU();
  Bench bench(4 << 20);
  for (Copied const& c : hard_cases())
    for (Choose choose : {Choose::predicted, Choose::measured}) {
      Stream const stream;
      Plan const p = plan(c.destination(bench.out()), c.source(bench.in()), {choose, stream.id});
      EXPECT_EQ(p.workspace_bytes(), 0u);
      EXPECT_EQ(bench.wrong_after(c, [&] { p.run(c.dst_at(bench.out()), c.src_at(bench.in())); }), 0) << c.text();
    }
}
// Where the destination begins in the middle of a sector, each run of the tile takes up to 32 bytes more, and the tile
// of this plan no longer fits shared memory: another plan runs there. Within a vector of 16 bytes no plan of this one
// is right.
TEST(GpuCopies, APlanRunsWhereItsAddressesAgree) {
  NEEDS_GPU();
  Bench bench(64 << 20);
  Copied const c = permuted("", 1, {4112, 5, 7, 256}, {3, 1, 0, 2});
  Plan const p = plan(c.destination(bench.out()), c.source(bench.in()));
  for (std::int64_t bytes : {0, 8, 16, 32, 41, 48, 64}) {
    Copied other = c;
    other.base_dst = bytes;
    auto const run = [&] { p.run(other.dst_at(bench.out()), other.src_at(bench.in())); };
    if (bytes % 16)
      EXPECT_THROW(run(), Error) << bytes;
    else
      EXPECT_EQ(bench.wrong_after(other, run), 0) << bytes;
  }
}
TEST(GpuCopies, NothingIsMeasuredIntoAGraph) {
  NEEDS_GPU();
  Bench bench(1 << 20);
  Copied const c = permuted("", 4, {160, 70}, {1, 0});
  Stream const stream;
  cudaGraph_t graph;
  check(cudaStreamBeginCapture(stream.id, cudaStreamCaptureModeGlobal));
  try {
    (void)plan(c.destination(bench.out()), c.source(bench.in()), {Choose::measured, stream.id});
    ADD_FAILURE() << "measured while captured";
  } catch (Error const& e) {
    EXPECT_EQ(e.what(), std::string("a plan cannot be measured on a stream that is captured: measuring synchronises"));
  }
  check(cudaStreamEndCapture(stream.id, &graph));
  check(cudaGraphDestroy(graph));
}
TEST(GpuCopies, SaysWhatWasMeasured) {
  NEEDS_GPU();
  Bench bench(4 << 20);
  Copied const c = permuted("", 4, {640, 700}, {1, 0});
  std::string const why = plan(c.destination(bench.out()), c.source(bench.in()), {Choose::measured}).why();
  EXPECT_NE(why.find("; slower: measured "), std::string::npos) << why;
}
TEST(GpuCopies, PermuteAndTransposeAreCopies) {
  NEEDS_GPU();
  Bench bench(1 << 20);
  Copied const c = permuted("heads", 4, {16, 7, 33}, {0, 2, 1});
  // In the order of C: the slowest mode first.
  ConstTensor const src = tensor(static_cast<void const*>(bench.in()), f32, {33, 7, 16});
  Tensor const dst = tensor(static_cast<void*>(bench.out()), f32, {7, 33, 16});
  EXPECT_EQ(bench.wrong_after(c, [&] { permute(dst, src, {1, 0, 2}); }), 0);
  Copied const t = permuted("batch", 4, {16, 7, 33}, {1, 0, 2});
  EXPECT_EQ(bench.wrong_after(t,
                              [&] {
                                transpose(tensor(static_cast<void*>(bench.out()), f32, {33, 16, 7}), src);
                              }),
            0);
}
TEST(GpuCopies, FromEightThreads) {
  NEEDS_GPU();
  std::vector<std::unique_ptr<Bench>> benches;
  for (int i = 0; i < 8; ++i) benches.push_back(std::make_unique<Bench>(1 << 20));
  std::atomic<std::int64_t> wrong = 0;
  in_parallel(8, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) {
      std::mt19937 rng(unsigned(i) + 1);
      for (int n = 0; n < 40; ++n) {
        Copied const c = random_copy(rng, 4000);
        if (!benches[std::size_t(i)]->holds(c)) continue;
        wrong += benches[std::size_t(i)]->wrong_after(
            c, [&] { copy(c.destination(benches[std::size_t(i)]->out()), c.source(benches[std::size_t(i)]->in())); });
      }
    }
  });
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace inlay::test
