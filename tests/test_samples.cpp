// Sampled replays: a block of each kind, counted as often as there are of it, says what a replay of all blocks says.
#include <gtest/gtest.h>

#include <map>

#include <inlay/registry/registry.h>
#include <inlay/registry/rounding.h>
#include "corpus.h"
#include "gemm_corpus.h"

namespace inlay::test {
namespace {
using namespace registry;
using replay::Finding, replay::Site;

std::string name_of(Site const& s) {
  char const* const mechanism[] = {"", " by cp.async", " by TMA"};
  return s.operand + (s.store ? " store" : " load") + mechanism[int(s.mechanism)] + ", " + std::to_string(s.bytes) +
         " bytes a lane";
}
std::map<std::string, std::string> counts(Recorder const& recorder) {
  std::map<std::string, std::string> all;
  auto const str = [](std::int64_t n) { return std::to_string(n) + " "; };
  for (Site const& s : recorder.sites)
    if (s.traffic.requests)  // not what came and went
      all[name_of(s)] =
          str(s.traffic.requests) + str(s.traffic.transactions) + str(s.ideal) + str(s.sectors) + str(s.useful);
  all["FMAs"] = str(recorder.fma), all["exposed loads"] = str(recorder.exposed_loads);
  return all;
}

class CopySamples : public testing::TestWithParam<int> {};
TEST_P(CopySamples, CountWhatAllBlocksCount) {
  auto const& entry = copy_kernels()[std::size_t(GetParam())];
  int ran = 0;
  std::vector<Case> const cases = {{0, 5},
                                   {3, 5},
                                   {520, 1040},
                                   {261, 531},
                                   {261, 531, 1, 1, 2, 3, 5},
                                   {518, 266, 1, 8, 24, 16, 8},
                                   {130, 272, 7, 16, 16},
                                   {131, 269, 5, 1, 0, 1, 3},
                                   {20000, 5},
                                   {5, 20000},
                                   packed(12, 20, 1500),
                                   packed(7, 9, 3000, 1, 3)};
  for (std::size_t i = 0; i < cases.size(); ++i)
    for (int e : {1, 4}) {
      Case const& c = cases[i];
      // A short test takes half of them, and the other half with the next kernel; and one that all transposes of whole
      // vectors take.
      bool const whole_vectors_batched = c.M == 12 && c.L > 1;
      if (!runs_long_tests() && !whole_vectors_batched && (int(i) + GetParam() + e / 4) % 2) continue;
      SCOPED_TRACE(c.name() + ", " + std::to_string(e) + " bytes");
      Views const v = views_of(c, is_transpose(entry.info()));
      auto const bytes = [&](std::int64_t n) { return std::size_t(n * e) + 64; };
      Recorder all, some;
      Copy const copy = copy_of(c, v, all.allocate("in", bytes(v.in_elements), e, 1),
                                all.allocate("out", bytes(v.out_elements), e, 2), e);
      if (entry.info().rejects(copy, Device{})) continue;
      entry.replay(copy, Device{}, all);
      entry.sample(
          copy_of(c, v, some.reserve("in", bytes(v.in_elements), e), some.reserve("out", bytes(v.out_elements), e), e),
          Device{}, some);
      for (Finding const& f : some.findings) ADD_FAILURE() << f.sentence;
      EXPECT_EQ(counts(some), counts(all));
      if (HasFailure()) return;
      ++ran;
    }
  EXPECT_GE(ran, runs_long_tests() ? 3 : 1);
}
INSTANTIATE_TEST_SUITE_P(Ladder, CopySamples, testing::Range(0, int(copy_kernels().size())), [](auto const& info) {
  return std::string(copy_kernels()[std::size_t(info.param)].info().name);
});

std::vector<std::pair<GemmCase, DType>> typed(std::vector<GemmCase> const& cases) {
  std::vector<std::pair<GemmCase, DType>> all;
  for (DType type : {f32, bf16})
    for (GemmCase const& c : cases) all.emplace_back(c, type);
  return all;
}
constexpr std::int64_t kSlicedK = 8200, kSliceK = 2112;  // three slices, and a last one of 1864
class GemmSamples : public testing::TestWithParam<int> {};
TEST_P(GemmSamples, CountWhatAllBlocksCount) {
  auto const& entry = gemm_kernels()[std::size_t(GetParam())];
  int ran = 0;
  std::vector<GemmCase> const cases = {
      {0, 5, 7},
      {7, 5, 0, 1, "nn", 1, 2},
      {17, 19, 23},
      {64, 61, 36, 1, "tt", 2, -1},
      {33, 35, 19, 1, "tn", 1, 0, 1, 2, 3, 3, 1, 2},
      {19, 21, 23, 3, "nn"},
      {33, 31, 20, 3, "tt", 2, -1, 1, 0, 1, 0, 0, 0, true},
      {36, 44, 28, 2, "tn", 2, -1, 0, 0, 4, 0, 0, 0, false, true},
      // several tiles, and K long enough to be cut short
      {132, 260, 140, 1, "tn"},
      {260, 132, 140, 1, "nn", 1, 1},
      {132, 132, 140, 1, "nt"},
      {129, 130, 135, 1, "nt"},
      {60, 64, 180, 3, "tn", 2, 1},
      // split-K
      {64, 64, 900, 1, "tn"},
      {64, 64, 900, 1, "nn", 1, 1},
      {61, 65, 903, 2, "tn", 2, 1},
      {130, 16, 905},
      {16, 132, 900, 1, "tt"},
      // a matrix times a few vectors
      {70, 2, 68, 1, "nn"},
      {5, 72, 44, 2, "nn", 1, 1},
      // batches without gaps
      {6, 7, 9, 60, "nt", 1, 0, 0, 0, 0, 0, 0, 0, false, false, 0},
      {8, 12, 16, 40, "tn", 1, 1, 0, 0, 0, 0, 0, 0, false, false, 0},
      // vectors of eight elements along K
      {130, 260, 136, 1, "nt", 2, 1},
      {128, 128, 264, 2, "nt", 1, 0, 8, 0, 0, 0, 0, 0, false, false, 8},
      // K in slices, for the kernels that add their sums
      {72, 24, kSlicedK, 1, "nt"},
  };
  int const share = runs_long_tests() ? 1 : is_step(entry.info().name) ? 3 : 2;
  int number = GetParam();
  for (auto const& [whole, type] : typed(cases)) {
    if (++number % share && whole.K != kSlicedK) continue;
    GemmCase const c = shortened(whole, entry.info().name);
    SCOPED_TRACE(c.name() + " " + name_of(type));
    auto const elements = [&](Stored const& x) { return std::size_t(x.elements(c.L)) + 16; };
    std::size_t const a = elements(stored_a(c)), b = elements(stored_b(c)), d = elements(stored_c(c));
    Recorder all, some;
    auto const sliced = [&](Gemm gemm) {
      if (c.K == kSlicedK) gemm.slice_K = kSliceK;
      return gemm;
    };
    Gemm const gemm = sliced(gemm_of(c, allocate_numbers(all, "A", a, type, 1), allocate_numbers(all, "B", b, type, 2),
                                     allocate_numbers(all, "D", d, type, 3), Compute::fp32, type));
    if (entry.info().rejects(gemm, Device{})) continue;
    if (c.K == kSlicedK && !entry.info().adds_slices) continue;
    std::size_t const workspace = entry.info().workspace(gemm, Device{});
    // Which slices multiply depends on the data, which samples do not have.
    if (std::string_view(entry.info().name) == "sgemm_split_fast" && c.K > 0) continue;
    // A cut moves the ends of chains, which samples do not follow.
    if (workspace && std::string_view(entry.info().name) == "sgemm_tma_blocked") continue;
    all.allocate_workspace(workspace), some.allocate_workspace(workspace);
    entry.replay(gemm, Device{}, all);
    auto const reserve = [&](char const* name, std::size_t n) {
      return some.reserve(name, n * std::size_t(bytes_of(type)), bytes_of(type));
    };
    entry.sample(sliced(gemm_of(c, reserve("A", a), reserve("B", b), reserve("D", d), Compute::fp32, type)), Device{},
                 some);
    for (Finding const& f : some.findings) ADD_FAILURE() << f.sentence;
    EXPECT_EQ(counts(some), counts(all));
    if (HasFailure()) return;
    ++ran;
  }
  EXPECT_GE(ran, std::string_view(entry.info().name) == "sgemm_split_fast" ? 0 : runs_long_tests() ? 3 : 1);
}
INSTANTIATE_TEST_SUITE_P(Ladder, GemmSamples, testing::Range(0, int(gemm_kernels().size())), [](auto const& info) {
  return std::string(gemm_kernels()[std::size_t(info.param)].info().name);
});

}  // namespace
}  // namespace inlay::test
