// The planner: what it picks, and what it says. No GPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include <inlay/planner/candidate.h>
#include <inlay/planner/tuning.h>
#include "corpus.h"

namespace inlay::test {
namespace {
using namespace planner;

Copy moved(Case const& c, bool transpose, int e) {
  Views const v = views_of(c, transpose);
  return copy_of(c, v, reinterpret_cast<void*>(1ull << 40), reinterpret_cast<void*>(1ull << 41), e);
}
// The one step of a plan; empty: nobody can.
std::string chosen(Copy const& copy) {
  Plan const plan = make_plan(copy, Device{}, false);
  EXPECT_EQ(plan.num_launches, plan.candidate >= 0);
  EXPECT_EQ(plan.workspace_bytes, 0u);
  if (plan.candidate < 0) return "";
  EXPECT_EQ(plan.find<Copy>()->kernel, candidates<Copy>()[std::size_t(plan.candidate)].kernel);
  return plan.find<Copy>()->kernel->name;
}
std::string chosen(Case const& c, bool transpose, int e) { return chosen(moved(c, transpose, e)); }
std::string why_of(Copy const& copy) { return why(make_plan(copy, Device{}, false), copy, Device{}, false); }

// What Choose::measured times: the planner's choice first, then what is predicted to be nearly as fast.
TEST(Plan, ListsWhatIsWorthTiming) {
  void *const in = reinterpret_cast<void*>(1ull << 40), *const out = reinterpret_cast<void*>(1ull << 41);
  Copy const general = make_copy(tensor(out, f32, {40, 50, 60, 70}),
                                 tensor(static_cast<void const*>(in), f32, {70, 60, 50, 40}).permuted({3, 2, 1, 0}));
  for (Copy const& copy : {general, moved({4096, 4096}, true, 4), moved({17, 3}, true, 1)}) {
    std::vector<Plan> const plans = plans_to_time(copy, Device{});
    ASSERT_FALSE(plans.empty());
    EXPECT_LE(plans.size(), 64u);
    EXPECT_EQ(plans.front().seconds, make_plan(copy, Device{}, false).seconds);
    for (std::size_t i = 1; i < plans.size(); ++i) EXPECT_GE(plans[i].seconds, plans[i - 1].seconds);
    EXPECT_LE(plans.back().seconds, 2 * plans.front().seconds);
    for (Plan const& plan : plans) EXPECT_GE(plan.candidate, 0);
  }
  auto const plans = plans_to_time(general, Device{});
  int other_tilings = 0;  // of one candidate
  for (Plan const& plan : plans) other_tilings += plan.candidate == plans.front().candidate;
  EXPECT_GT(other_tilings, 3);
  EXPECT_TRUE(plans_to_time(moved({0, 5}, true, 4), Device{}).empty());
}

TEST(Plan, PicksByPredictedTime) {
  EXPECT_EQ(chosen({4096, 4096}, true, 4), "transpose_registers");
  for (int e : {1, 2, 4}) EXPECT_EQ(chosen({10007, 10009}, true, e), "transpose_realigned") << e;
  EXPECT_EQ(chosen({4095, 4097}, true, 16), "transpose_registers");  // at 16 bytes every pitch is aligned
  // A few blocks either way; which of the two is a matter of a tenth of a microsecond.
  for (int e : {1, 2, 4}) {
    std::string const name = chosen({129, 129}, true, e);
    EXPECT_TRUE(name == "copy_elements" || name == "copy_small_tile") << e << ": " << name;
  }
  EXPECT_EQ(chosen({256, 256}, true, 1), "copy_small_tile");
  EXPECT_EQ(chosen({4096, 4096}, false, 4), "copy_contiguous");
  EXPECT_EQ(chosen({4095, 4097}, false, 2), "copy_direct");
  // Few columns, few rows, gaps behind each pixel: tiles or rows, and never the tiles of large matrices.
  for (Case const& c : {Case{1000003, 3}, Case{3, 8000024}, Case{1000003, 3, 1, 1}})
    EXPECT_TRUE(chosen(c, true, 1).starts_with("copy_")) << c.name();
}
TEST(Plan, BatchesOfSmallMatrices) {
  auto const batch = [](std::int64_t L, std::int64_t M, std::int64_t N, int e) {
    Tensor const src = view(reinterpret_cast<void*>(1ull << 40), e, {L, M, N}, {M * N, N, 1});
    Tensor const dst = view(reinterpret_cast<void*>(1ull << 41), e, {L, N, M}, {M * N, M, 1});
    return chosen(make_copy(dst, src.transposed()));
  };
  EXPECT_NE(batch(1000000, 4, 4, 4), "transpose_registers");  // its tiles would be empty but for a corner
  EXPECT_TRUE(batch(1000000, 7, 5, 4).starts_with("copy_tiled_"));
  EXPECT_EQ(batch(100000, 64, 64, 4), "transpose_registers");
}
TEST(Plan, ATransposeThatIsACopyIsOne) { EXPECT_EQ(chosen({1, 1 << 24}, true, 4), "copy_contiguous"); }
TEST(Plan, EveryCaseOfTheCorpusHasAnAnswer) {
  for (int e : kElementSizes)
    for (Case const& c : corpus())
      for (bool transpose : {false, true}) EXPECT_EQ(chosen(c, transpose, e).empty(), c.M * c.N == 0) << c.name();
}
// A GPU that the table lacks is an H200, scaled, and why() says so.
TEST(Plan, AnUnknownGpuIsAnH200Scaled) {
  Device const half = model::scaled_device("some GPU", 90, 66, 2400), blind = model::scaled_device("", 80, 66, 0);
  EXPECT_TRUE(half.is_scaled);
  EXPECT_DOUBLE_EQ(half.copy_gbps, 2143);
  EXPECT_DOUBLE_EQ(blind.copy_gbps, 2143);
  EXPECT_EQ(blind.wgmma_rate, 0);
  void *const to = reinterpret_cast<void*>(1 << 20), *const from = reinterpret_cast<void*>(std::uintptr_t(1) << 40);
  Copy const copy = make_copy(matrix(to, b32, 8192, 8192), matrix(from, b32, 8192, 8192).transposed());
  double const slower = make_plan(copy, half, false).seconds / make_plan(copy, Device{}, false).seconds;
  EXPECT_TRUE(slower > 1.9 && slower < 2.1) << slower;
  EXPECT_NE(why(make_plan(copy, half, false), copy, half, false).find("the device table lacks this GPU"),
            std::string::npos);
  EXPECT_EQ(why(make_plan(copy, Device{}, false), copy, Device{}, false).find("the device table"), std::string::npos);
}
TEST(Plan, EveryCopyHasAKernel) {
  Tensor const src = view(reinterpret_cast<void*>(1ull << 40), 4, {2, 8, 8}, {500, 2, 32});
  Tensor const dst = view(reinterpret_cast<void*>(1ull << 41), 4, {2, 8, 8}, {640, 80, 10});
  EXPECT_EQ(chosen(make_copy(dst, src)), "copy_elements");  // contiguous nowhere
}
TEST(Plan, SaysWhy) {
  std::string const why = why_of(moved({10007, 10009}, true, 4));
  EXPECT_EQ(why.find("copy of 100160063 elements of 4 bytes, a transpose, on H200\n"
                     "  mode 0: extent 10007, source stride 40036 B, destination stride 4 B\n"
                     "  mode 1: extent 10009, source stride 4 B, destination stride 40028 B\n"
                     "chosen: transpose_realigned"),
            0u)
      << why;
  EXPECT_NE(why.find("bytes through DRAM at the datasheet's"), std::string::npos) << why;
  EXPECT_NE(why.find("transpose_registers: rows of 40036 bytes are no whole number"), std::string::npos) << why;
  EXPECT_NE(why.find("copy_tiled_16k: "), std::string::npos) << why;
  EXPECT_NE(why.find(" us predicted, tiles of mode 0: "), std::string::npos) << why;
}

// ---- running it, with other operands than the plan was made with
Copy ran;
void* ran_in = nullptr;
void note(Copy const& copy, Device const&, void* workspace, cudaStream_t) { ran = copy, ran_in = workspace; }
Reason takes_all(Copy const&, Device const&) { return {}; }
Reason takes_none(Copy const&, Device const&) { return {"it has had enough"}; }
double microsecond(Copy const&, Device const&) { return 1e-6; }
constexpr Info<Copy> info_of(char const* name, Reason (*rejects)(Copy const&, Device const&),
                             double (*seconds)(Copy const&, Device const&) = microsecond) {
  return {.name = name,
          .idea = "Notes what it is asked to run.",
          .source = "a test",
          .ladder = Ladder::none,
          .origin = Origin::ours,
          .rejects = rejects,
          .seconds = seconds,
          .run = note};
}
using Rows = std::span<Candidate<Copy> const>;
double two_microseconds(Copy const&, Device const&) { return 2e-6; }
double zero(Copy const&, Device const&) { return 0; }
double infinite(Copy const&, Device const&) { return HUGE_VAL; }
double no_number(Copy const&, Device const&) { return std::nan(""); }
constexpr Info<Copy> notes = info_of("notes", takes_all), refuses = info_of("refuses", takes_none),
                     notes_in_two = info_of("notes", takes_all, two_microseconds),
                     notes_in_zero = info_of("notes", takes_all, zero),
                     notes_in_infinite = info_of("notes", takes_all, infinite),
                     notes_in_no_number = info_of("notes", takes_all, no_number),
                     unpredicted = info_of("notes", takes_all, nullptr);

TEST(Plan, RunsBetweenOtherPlaces) {
  Candidate<Copy> const rows[] = {{.kernel = &notes}};
  Copy const copy = moved({7, 9, 1, 3, 1}, true, 4);
  Plan const plan = make_plan(copy, Device{}, false, Rows(rows));
  ASSERT_EQ(plan.num_launches, 1);
  char dst[4096], src[4096];
  ran = {}, ran_in = dst;
  run(plan, Device{}, {{dst, src, nullptr}, nullptr}, nullptr);
  EXPECT_EQ(ran.dst, dst);
  EXPECT_EQ(ran.src, src);
  EXPECT_EQ(ran_in, nullptr);
  ASSERT_TRUE(ran.as_transpose());
  EXPECT_EQ(ran.as_transpose()->in, src);
  EXPECT_EQ(ran.as_transpose()->out, dst);
  EXPECT_EQ(ran.as_transpose()->ld_in, copy.as_transpose()->ld_in);
}
// A view that runs backwards is given by its first element, which is not where its memory begins.
TEST(Plan, RunsViewsThatGoBackwards) {
  Candidate<Copy> const rows[] = {{.kernel = &notes}};
  char dst[4096], src[4096];
  Tensor const to = view(dst + 28, 4, {8}, {-1}), from = view(src, 4, {8}, {1});
  Plan const plan = make_plan(make_copy(to, from), Device{}, false, Rows(rows));
  run(plan, Device{}, {{dst + 1028, src + 1000, nullptr}, nullptr}, nullptr);
  EXPECT_EQ(ran.dst, dst + 1000);
  EXPECT_EQ(ran.src, src + 1028);
  EXPECT_EQ(ran.mode[0].src_stride, -4);
}
TEST(Plan, TakesTheFirstOfEquallyFastOnesThatAccept) {
  Candidate<Copy> const rows[] = {{.kernel = &refuses}, {.label = "again", .kernel = &notes}, {.kernel = &notes}};
  Copy const copy = moved({7, 9}, true, 4);
  Plan const plan = make_plan(copy, Device{}, false, Rows(rows));
  EXPECT_EQ(plan.candidate, 1);
  EXPECT_EQ(plan.find<Copy>()->kernel, rows[1].kernel);
  EXPECT_EQ(plan.find<Copy>(1), nullptr);
  std::string const text = why(plan, copy, Device{}, false, Rows(rows));
  for (char const* line : {"     refuses: it has had enough\n", "  -> notes (again): 1.00 us predicted\n",
                           "     notes: 1.00 us predicted; as fast\n"})
    EXPECT_NE(text.find(line), std::string::npos) << line << text;
}

TEST(Plan, SkipsCandidatesWithoutAPredictedTime) {
  Copy const copy = moved({7, 9}, true, 4);
  Candidate<Copy> const rows[] = {{.kernel = &notes_in_zero},      {.kernel = &notes_in_infinite},
                                  {.kernel = &notes_in_no_number}, {.kernel = &unpredicted},
                                  {.kernel = &notes_in_two},       {.kernel = &notes},
                                  {.kernel = &notes_in_two}};
  EXPECT_EQ(make_plan(copy, Device{}, false, Rows(rows)).candidate, 5);
  EXPECT_EQ(make_plan(copy, Device{}, false, Rows(rows).first(4)).candidate, -1);
}
// why() calls a candidate "slower" only if it was compared with the choice, and prints its time; it says so of each
// candidate that was not compared.
TEST(Plan, SaysWhatWasCompared) {
  Candidate<Copy> const rows[] = {{.kernel = &notes_in_two}, {.kernel = &notes}, {.kernel = &notes_in_two}};
  Copy const large = moved({4096, 4096}, true, 4);  // a copy takes longer: the first row ends the search
  Plan const first = make_plan(large, Device{}, false, Rows(rows));
  EXPECT_EQ(first.candidate, 0);
  std::string text = why(first, large, Device{}, false, Rows(rows));
  EXPECT_NE(text.find("     notes: 1.00 us predicted; not compared: the choice is within 4 % of a copy\n"),
            std::string::npos)
      << text;
  Copy const small = moved({7, 9}, true, 4);
  Plan plan = make_plan(small, Device{}, false, Rows(rows));
  EXPECT_EQ(plan.candidate, 1);
  EXPECT_NE(why(plan, small, Device{}, false, Rows(rows)).find("     notes: 2.00 us predicted; slower\n"),
            std::string::npos);
  plan.measured_us = {3, 2, 0};
  text = why(plan, small, Device{}, false, Rows(rows));
  EXPECT_NE(text.find("; slower: measured 3.00 us, the choice 2.00 us\n"), std::string::npos) << text;
  EXPECT_NE(text.find("; not measured\n"), std::string::npos) << text;
}

// ---- in pieces, where a grid does not hold the whole
std::int64_t most = 0;  // what a grid of `limited` holds
Reason only_most(Copy const& copy, Device const&) {
  return too_many("{} elements are more than {}", 1, copy.elements(), {copy.elements(), most, 0}, most);
}
constexpr Info<Copy> limited = info_of("limited", only_most);
std::int64_t moved_at_most = 0;
void copy_on_host(Copy const& m, Device const&, void*, cudaStream_t) {
  moved_at_most = std::max(moved_at_most, m.elements());
  for (std::int64_t i = 0; i < m.elements(); ++i) {
    std::int64_t rest = i, from = 0, to = 0;
    for (int k = 0; k < m.rank; rest /= m.mode[k].extent, ++k)
      from += rest % m.mode[k].extent * m.mode[k].src_stride, to += rest % m.mode[k].extent * m.mode[k].dst_stride;
    std::memcpy(static_cast<char*>(m.dst) + to, static_cast<char const*>(m.src) + from, std::size_t(m.elem_bytes));
  }
}
// The total of a plan's pieces along the mode that is cut, by an extent of a piece.
template <class F>
std::int64_t total(Plan const& plan, F const& extent) {
  return plan.chunks * extent(plan) + (plan.last_chunk ? extent(*plan.last_chunk) : 0);
}
TEST(PlanInPieces, MovesEveryElementOnce) {
  Info<Copy> on_host = limited;
  on_host.run = copy_on_host;
  Candidate<Copy> const rows[] = {{.kernel = &on_host}};
  std::vector<std::int32_t> src(4000), dst(4000);
  for (std::size_t i = 0; i < src.size(); ++i) src[i] = std::int32_t(i);
  struct {
    std::int64_t extents[3], dst[3], src[3], first;
    std::vector<std::int64_t> limits;
  } const cases[] = {{{37, 6, 5}, {30, 1, 6}, {30, 5, 1}, 0, {4000, 400, 240, 140}},        // a batch of transposes
                     {{2, 300, 5}, {1500, 1, 300}, {1500, 5, 1}, 0, {4000, 400, 100, 90}},  // long matrices
                     {{37, 6, 5}, {-30, 1, 6}, {64, 7, 1}, 1080, {4000, 400, 240, 140}},    // backwards
                     {{1, 1, 1000}, {0, 0, 1}, {0, 0, 2}, 0, {4000, 400, 100, 64, 31}}};
  for (auto const& c : cases)
    for (std::int64_t limit : c.limits) {
      std::fill(dst.begin(), dst.end(), -1);
      most = limit, moved_at_most = 0;
      Copy const copy = make_copy(tensor(dst.data() + c.first, c.extents, c.dst), tensor(src.data(), c.extents, c.src));
      Plan const plan = make_plan(copy, Device{}, false, Rows(rows));
      ASSERT_EQ(plan.candidate, 0);
      run(plan, Device{}, {{dst.data() + c.first, src.data(), nullptr}, nullptr}, nullptr);
      EXPECT_LE(moved_at_most, limit);
      EXPECT_EQ(plan.is_whole(), copy.elements() <= limit);
      for (std::int64_t bytes : plan.chunk_bytes) EXPECT_EQ(bytes % kPlanAlignment, 0) << limit;
      std::int64_t wrong = 0, written = std::count_if(dst.begin(), dst.end(), [](auto x) { return x >= 0; });
      for (std::int64_t i = 0; i < c.extents[0]; ++i)
        for (std::int64_t j = 0; j < c.extents[1]; ++j)
          for (std::int64_t k = 0; k < c.extents[2]; ++k)
            wrong += dst[std::size_t(c.first + i * c.dst[0] + j * c.dst[1] + k * c.dst[2])] !=
                     i * c.src[0] + j * c.src[1] + k * c.src[2];
      EXPECT_EQ(wrong, 0) << limit;
      EXPECT_EQ(written, copy.elements());
      std::string const text = why(plan, copy, Device{}, false, Rows(rows));
      EXPECT_EQ(text.find("the batch runs in ") != std::string::npos, !plan.is_whole()) << text;
    }
  // 4 transposes of 30 elements are the fewest whose successors agree with them modulo 32 bytes.
  most = 119;
  EXPECT_EQ(make_plan(make_copy(tensor(dst.data(), {37, 6, 5}), tensor(src.data(), {37, 6, 5}, {30, 1, 6})), Device{},
                      false, Rows(rows))
                .candidate,
            -1);
  most = 3;  // no piece of 6 x 5 elements is so small
  EXPECT_EQ(make_plan(make_copy(tensor(dst.data(), {1, 6, 5}), tensor(src.data(), {1, 6, 5}, {30, 1, 6})), Device{},
                      false, Rows(rows))
                .candidate,
            -1);
}
TEST(PlanInPieces, TakesAsLongAsAllPieces) {
  auto const seconds = [](std::int64_t L) {
    Copy const copy = make_copy(tensor(reinterpret_cast<void*>(1ull << 60), b8, {L, 3, 5}, {32, 8, 1}),
                                tensor(reinterpret_cast<void*>(1ull << 61), b8, {L, 3, 5}, {32, 1, 3}));
    return make_plan(copy, Device{}, false).seconds;
  };
  std::int64_t const billions = std::int64_t(1) << 31;
  EXPECT_GT(seconds(1024), 0);
  EXPECT_NEAR(seconds(4 * billions) / seconds(2 * billions), 2, .1);
}
// A configuration that was given is of the whole problem: a tile of it may be larger than a piece, which gets its own.
TEST(PlanInPieces, HaveConfigurationsOfTheirOwn) {
  most = 500;
  Info<Copy> chooses = limited;
  chooses.choose = [](Copy const&, Device const&) { return Config{.tile = 7}; };
  Candidate<Copy> const row{.kernel = &chooses};
  Config const given{.tile = 3};
  auto const tile_of = [&](Copy const& copy) {
    return attempt_in_chunks(row, copy, Device{}, false, given).plan.find<Copy>()->config.tile;
  };
  EXPECT_EQ(tile_of(moved({2, 3}, true, 4)), 3);
  EXPECT_EQ(tile_of(moved({40, 50}, true, 4)), 7);
}
// What the library itself would launch: no grid limits a batch.
TEST(PlanInPieces, BatchesOfAnyLength) {
  std::int64_t const billions = std::int64_t(1) << 31;
  void *const dst = reinterpret_cast<void*>(1ull << 60), *const src = reinterpret_cast<void*>(1ull << 61);
  for (std::int64_t L : {billions - 1, billions, billions + 5, 3 * billions, 40 * billions})
    for (DType e : {b8, b32, b128})
      for (auto [M, N] : {std::pair{2, 2}, {3, 5}, {16, 16}, {40, 300}})
        for (int gap : {0, 1}) {
          std::int64_t const in = M * N + gap, out = M * N;
          Copy const copy = make_copy(tensor(dst, e, {L, N, M}, {out, M, 1}), tensor(src, e, {L, N, M}, {in, 1, N}));
          Plan const plan = make_plan(copy, Device{}, false);
          ASSERT_GE(plan.candidate, 0) << L << " " << M << " " << N << " " << bytes_of(e);
          std::int64_t const moved = total(plan, [](Plan const& p) { return p.find<Copy>()->problem.elements(); });
          EXPECT_EQ(moved, copy.elements());
          for (std::size_t k : {0, 1}) EXPECT_EQ(plan.chunk_bytes[k] % kPlanAlignment, 0) << L;
        }
}

}  // namespace
}  // namespace inlay::test
