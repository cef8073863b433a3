// A kind of problem that the lab has never heard of, fill: with its trait it is parsed, verified, explained, measured,
// tabulated, filed and compared by the lab's own code. And what is filed of the lab's own kinds comes back.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <inlay/block/block.h>
#include <inlay/block/kernel.h>
#include <inlay/replay/run.h>

#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "explain/explain.h"
#include "measure/gpu.h"
#include "page/report.h"
#include "problems/checks.h"
#include "problems/kernels.h"
#include "results/compare.h"
#include "results/data_files.h"
#include "results/json_rows.h"
#include "usage_error.h"
#include "verify/replay_check.h"
#ifdef INLAY_NVCC
#include "measure/guarded.h"
#include "measure/measure.h"
#endif

namespace inlay::lab {
namespace {

// n floats become one value.
struct FillCase {
  std::int64_t n = 1000;
  int byte = 7;  // four of these are the value
  std::string sentence() const { return fmt::format("{} times {}", n, byte); }
  std::string name() const { return std::to_string(n); }
  bool operator==(FillCase const&) const = default;
};
struct Fill {
  float* out;
  std::int64_t n;
  float value;
  std::int64_t elements() const { return n; }
};
struct FillCall {
  float* out;
};
Fill fill_of(FillCase const& c, FillCall const& call) {
  Fill fill{call.out, c.n, 0};
  std::memset(&fill.value, c.byte, sizeof fill.value);
  return fill;
}

// kBroken leaves the last element out.
template <bool kBroken>
struct FillKernel {
  Fill fill;
  static constexpr block::LaunchInfo launch_info{.threads = 64};
  struct Smem {};
  std::int64_t blocks() const { return (fill.n + 63) / 64; }

  template <class Block>
  CUTE_DEVICE void operator()(Block block, Smem&) const {
    using namespace cute;
    Copy_Atom<block::On<Block, UniversalCopy<float>>, float> atom;
    std::int64_t const i = std::int64_t(block.block_index()) * 64 + int(block.thread_rank());
    float const value = fill.value;
    block::copy_one(atom, i < fill.n - kBroken, &value, make_gmem_ptr(fill.out + i));
  }
};

template <bool kBroken>
void replay_fill(Fill const& fill, Device const&, Recorder& recorder) {
  recorder.writes(fill.out);
  replay::replay_kernel("fill", FillKernel<kBroken>{fill}, recorder);
  for (std::int64_t i = 0; i < fill.n; ++i)
    if (!(recorder.number(fill.out + i) == fill.value)) recorder.report(Check::result, fmt::format("out[{}]", i));
}
template <bool kBroken>
void sample_fill(Fill const& fill, Device const&, Recorder& recorder) {
  recorder.expect_samples();
  FillKernel<kBroken> const kernel{fill};
  recorder.launches.push_back(replay::launch_of(kernel));
  recorder.times(kernel.blocks(), [&] { replay::run(kernel, recorder, 0, 1); });
}
Reason rejects_odd(Fill const& fill, Device const&) { return fill.n % 2 ? Reason{"{} is odd", {fill.n}} : Reason{}; }

constexpr Info<Fill> kRight{.name = "fill_01",
                            .idea = "-",
                            .source = "-",
                            .ladder = Ladder::none,
                            .origin = Origin::ours,
                            .rejects = rejects_odd};
constexpr Info<Fill> kWrong{.name = "fill_02",
                            .idea = "-",
                            .source = "-",
                            .ladder = Ladder::none,
                            .origin = Origin::ours,
                            .rejects = rejects_odd};
#ifdef INLAY_NVCC
void run_fill(Fill const& fill, Device const&, void*, cudaStream_t stream) {
  unsigned char byte;
  std::memcpy(&byte, &fill.value, 1);
  check(cudaMemsetAsync(fill.out, byte, std::size_t(fill.n) * sizeof(float), stream));
}
void run_short(Fill const& fill, Device const& device, void* workspace, cudaStream_t stream) {
  run_fill({fill.out, fill.n - 1, fill.value}, device, workspace, stream);
}
#else
void run_fill(Fill const&, Device const&, void*, cudaStream_t) {}
constexpr auto run_short = run_fill;
#endif
Entry<Fill> const kEntries[]{{{&kRight, run_fill}, replay_fill<false>, sample_fill<false>},
                             {{&kWrong, run_short}, replay_fill<true>, sample_fill<true>}};

}  // namespace

template <>
struct Kind<FillCase> {
  static constexpr char const *name = "fill", *public_function = "fill", *suites = "suites/fill";
  static constexpr Units units{"GB/s", "gbps", "of memset", "of_memset", "cudaMemsetAsync", 1, false};
  static constexpr char const *item_form = "(\\d+):(\\d+)", *item_shape = "N:BYTE", *item_example = "1000:7";
  static std::string short_name(FillCase const& c) { return std::to_string(c.byte); }
  static std::vector<Field> fields(FillCase& c) {
    return {{"n", "--n", &c.n, "how many", true, true}, {"byte", "--byte", &c.byte, "the value"}};
  }
  static void take_item(FillCase& c, std::smatch const& m) { c.n = number(m[1]), c.byte = int(number(m[2])); }
  static void validate(FillCase const& c) { at_least_one("--n", c.n); }
  static void write(FillCase const& c, std::string const& kernel, Json& json) {
    json["n"] = c.n, json["kernel"] = kernel, json["fill_byte"] = c.byte;
  }
  static bool wrote(Json const& row) { return row.contains("fill_byte"); }
  static FillCase read(Json const& row) { return {row.at("n"), row.at("fill_byte")}; }

  static double bytes(FillCase const& c) { return 4. * double(c.n); }
  static double flops(FillCase const&) { return 0; }
  static double replayed_fma(FillCase const&) { return 0; }
  static std::vector<OperandBuffer> operands(FillCase const& c) { return {{"out", c.n, 4}}; }
  using Call = FillCall;
  static FillCall call(FillCase const&, std::span<void* const> at) { return {static_cast<float*>(at[0])}; }
  static FillCall exact(FillCall const& call) { return call; }

  using Canonical = Fill;
  static std::span<Entry<Fill> const> kernels() { return kEntries; }
  static Fill canonical(FillCase const& c, FillCall const& call, Info<Fill> const*) { return fill_of(c, call); }
};
static_assert(KindOf<FillCase>);

#ifdef INLAY_NVCC
template <>
struct OnDevice<FillCase> {
  using Candidate = lab::Candidate<FillCase>;
  struct Checker {
    Checker(FillCase const& c, FillCall const& call, cudaStream_t stream) : wanted(fill_of(c, call)), stream(stream) {}
    Fill wanted;
    cudaStream_t stream;

    std::string check_result(FillCall const& call) const {
      std::vector<float> got(std::size_t(wanted.n));
      check(cudaMemcpyAsync(got.data(), call.out, got.size() * 4, cudaMemcpyDeviceToHost, stream));
      check(cudaStreamSynchronize(stream));
      Wrong wrong{};
      for (std::int64_t i = wanted.n; i-- > 0;)
        if (!(got[std::size_t(i)] == wanted.value)) ++wrong.count, wrong.first = i;
      return check_text({wrong, {}}, wanted.n);
    }
    CheckResult operator()(Candidate const& candidate) const {
      fill({wanted.out});
      auto const launch = [&](cudaStream_t s) { candidate.launch({wanted.out}, s); };
      std::string const said = attempt(candidate.name, launch, stream);
      return {said.empty() ? check_result({wanted.out}) : said, {}};
    }
    void fill(FillCall const& call) const {
      check(cudaMemsetAsync(call.out, 0, std::size_t(wanted.n) * sizeof(float), stream));
    }
    std::string again(Candidate const&, std::vector<FillCall> const& calls, AllSets const& all_sets) const {
      for (FillCall const& call : calls) fill(call);
      all_sets();
      for (FillCall const& call : calls)
        if (std::string const said = check_result(call); said != "ok") return said;
      return "ok";
    }
  };
  static Candidate of_kernel(Entry<Fill> const& entry, FillCase const& c, FillCall const& call) {
    return candidate_of(entry, c, call);
  }
  static bool is_baseline(Candidate const& x) { return x.name == "fill_01"; }
  static double work(FillCase const& c, Candidate const&) { return 4e-6 * double(c.n); }
  static std::int64_t check_bytes(FillCase const&) { return 0; }
  static void best(std::vector<Row>&) {}
};
static_assert(RunsOnDevice<FillCase>);
#endif

namespace {

Row row_of(FillCase const& c, double share) {
  Row row;
  row.suite = "toys", row.measured = c, row.kernel = "fill_01", row.check_result = "ok";
  row.ms_median = .25, row.ms_iqr = .001, row.rate = 1234.5, row.share = share;
  return row;
}

TEST(Kinds, ANewOneIsTyped) {
  auto const cases = parse_cases<FillCase>("64:1,128:2", {});
  ASSERT_EQ(cases.size(), 2u);
  EXPECT_EQ(cases[1], (FillCase{128, 2}));
  EXPECT_THROW(parse_cases<FillCase>("0:1", {}), UsageError);
  EXPECT_THROW(parse_cases<FillCase>("64", {}), UsageError);
}

TEST(Kinds, ANewOneIsVerifiedByReplay) {
  auto const& right = kernel_named<FillCase>("fill_01");
  EXPECT_EQ(replay_on_cpu(right, FillCase{}).check_result, "ok");
  EXPECT_EQ(replay_on_cpu(right, FillCase{999}).check_result, "rejected: 999 is odd");
  Replayed const wrong = replay_on_cpu(kernel_named<FillCase>("fill_02"), FillCase{});
  EXPECT_TRUE(wrong.failed()) << wrong.check_result;
  EXPECT_THROW(replay_on_cpu(right, FillCase{std::int64_t(1) << 30}), UsageError);
}

TEST(Kinds, ANewOneIsExplained) {
  FillCase const c{std::int64_t(1) << 28};
  Explanation const x = explain_entry(kernel_named<FillCase>("fill_01"), c, *find_device("H200"));
  EXPECT_EQ(x.totals.global_store.transactions, c.n / 8);  // whole sectors
  EXPECT_EQ(x.work.dram_bytes, 4. * double(c.n));
}

TEST(Kinds, ANewOneIsTabulated) {
  std::string const text = table({row_of({}, .5)}, "a GPU");
  for (char const* what : {"1000 times 7, on a GPU", "of memset", "1234.5", "0.500", "ok"})
    EXPECT_NE(text.find(what), std::string::npos) << text;
}

TEST(Kinds, ANewOneIsFiledReadAndCompared) {
  KindList kinds = own_kinds();
  kinds.push_back(&kAnyKind<FillCase>);
  auto const folder = std::filesystem::temp_directory_path() / ("inlay_kinds_" + std::to_string(getpid()));
  std::filesystem::create_directory(folder);
  save_results({"a GPU", 1000, "2026-01-01", "-", {row_of({64, 1}, .5), row_of({64, 2}, .5)}}, folder / "was.json");
  save_results({"a GPU", 1000, "2026-01-01", "-", {row_of({64, 1}, .5), row_of({64, 2}, .4)}}, folder / "now.json");
  Results const read = load_results(folder / "was.json", kinds).value();
  ASSERT_EQ(read.rows.size(), 2u);
  ASSERT_TRUE(read.rows[1].measured.as<FillCase>());
  EXPECT_EQ(*read.rows[1].measured.as<FillCase>(), (FillCase{64, 2}));
  EXPECT_EQ(to_json(read.rows[1]), to_json(row_of({64, 2}, .5)));
  EXPECT_EQ(read.rows[0].share, .5);
  Comparison const compared = compare(folder / "was.json", folder / "now.json", 2, kinds);
  EXPECT_TRUE(compared.worse);
  EXPECT_NE(compared.text.find("64 times 2, fill_01: 0.500 -> 0.400 of memset"), std::string::npos) << compared.text;
  EXPECT_THROW(load_results(folder / "was.json"), Error);  // the lab's own list has no such kind
  std::filesystem::remove_all(folder);
}

TEST(Kinds, ANewOneIsMeasured) {
#ifdef INLAY_NVCC
  if (auto const why = why_no_gpu(); !why.empty()) GTEST_SKIP() << why;
  FillCase const c{1 << 20};
  auto const candidates = [&](FillCall const& call, cudaStream_t) {
    std::vector<OnDevice<FillCase>::Candidate> all;
    for (auto const& entry : kEntries) all.push_back(OnDevice<FillCase>::of_kernel(entry, c, call));
    return all;
  };
  Stream const stream = make_stream();
  Progress progress;
  auto const rows = measure<FillCase>(c, candidates, 15, stream.get(), progress);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].check_result, "ok");
  EXPECT_EQ(rows[0].share, 1.);
  EXPECT_TRUE(rows[0].ms_median);
  EXPECT_TRUE(rows[1].check_result.starts_with("FAILED: 1 of 1048576 elements are wrong")) << rows[1].check_result;
  EXPECT_FALSE(rows[1].ms_median);
  EXPECT_EQ(check_between_guards(kEntries[0], c), "ok");
#else
  GTEST_SKIP() << "a build without nvcc";
#endif
}

// To the last byte and in the same order, so that the files of two runs can be compared as text.
TEST(Kinds, RecordedRowsAreWrittenAsTheyWereRead) {
  for (char const* name : {"transpose.json", "sgemm.json", "small.json", "small_gemms.json"}) {
    auto const file = data_file("results/h200") / name;
    std::ifstream in(file);
    Json const rows = Json::parse(in).at("rows");
    auto const results = load_results(file).value();
    ASSERT_FALSE(rows.empty()) << name;
    ASSERT_EQ(results.rows.size(), rows.size()) << name;
    for (std::size_t i = 0; i < rows.size(); ++i) ASSERT_EQ(to_json(results.rows[i]).dump(), rows[i].dump()) << name;
  }
}

}  // namespace
}  // namespace inlay::lab
