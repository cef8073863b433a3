// The planner: what it picks, and what it says. No GPU.
#include <gtest/gtest.h>

#include <inlay/plan/candidate.h>
#include "corpus.h"

namespace inlay::test {
namespace {
using namespace planning;

Move moved(Case const& c, bool transpose, int e) {
  Views const v = views_of(c, transpose);
  return move_of(c, v, reinterpret_cast<void*>(1ull << 40), reinterpret_cast<void*>(1ull << 41), e);
}
// The one step of a plan; empty: nobody can.
std::string chosen(Move const& move) {
  Plan const plan = make_plan(move, Device{}, false);
  EXPECT_EQ(plan.steps, plan.row >= 0);
  EXPECT_EQ(plan.workspace_bytes, 0u);
  if (plan.row < 0) return "";
  EXPECT_EQ(plan.find<Move>()->variant, &candidates<Move>()[std::size_t(plan.row)].variant);
  return plan.find<Move>()->variant->info->name;
}
std::string chosen(Case const& c, bool transpose, int e) { return chosen(moved(c, transpose, e)); }
std::string why_of(Move const& move) { return why(make_plan(move, Device{}, false), move, Device{}, false); }

TEST(Plan, PicksByAlignmentAndExtents) {
  EXPECT_EQ(chosen({4096, 4096}, true, 4), "transpose_14_evict_last");
  for (int e : {1, 2, 4, 8}) EXPECT_EQ(chosen({4095, 4097}, true, e), "transpose_15_odd_pitch");
  EXPECT_EQ(chosen({4095, 4097}, true, 16), "transpose_14_evict_last");  // at 16 bytes every pitch is aligned
  EXPECT_EQ(chosen({4096, 4096, 1, 0, 0, 1}, true, 4), "transpose_15_odd_pitch");
  for (int e : {1, 2, 4}) EXPECT_EQ(chosen({129, 129}, true, e), "transpose_02_naive_write");
  EXPECT_EQ(chosen({129, 129}, true, 8), "transpose_15_odd_pitch");
  EXPECT_EQ(chosen({256, 256}, true, 1), "transpose_02_naive_write");
  EXPECT_EQ(chosen({256, 256}, true, 4), "transpose_14_evict_last");
  EXPECT_EQ(chosen({1000003, 3}, true, 1), "transpose_17_few_columns");
  EXPECT_EQ(chosen({786432, 3}, true, 1), "transpose_17_few_columns");  // 2.25 MiB, but no square
  EXPECT_EQ(chosen({3, 8000024}, true, 1), "transpose_18_few_rows");
  EXPECT_EQ(chosen({1000003, 3, 1, 1}, true, 1), "transpose_06_smem_swizzled");  // a gap behind each pixel
  EXPECT_EQ(chosen({4096, 4096}, false, 4), "copy_05_evict_last");
  EXPECT_EQ(chosen({4095, 4097}, false, 2), "copy_01_scalar");
}
TEST(Plan, BatchesOfSmallMatrices) {
  auto const batch = [](std::int64_t L, std::int64_t M, std::int64_t N, int e) {
    Tensor const src = view(reinterpret_cast<void*>(1ull << 40), e, {L, M, N}, {M * N, N, 1});
    Tensor const dst = view(reinterpret_cast<void*>(1ull << 41), e, {L, N, M}, {M * N, M, 1});
    return chosen(make_move(dst, src.transposed()));
  };
  EXPECT_EQ(batch(1000000, 4, 4, 4), "transpose_19_batch_squares");
  EXPECT_EQ(batch(1000000, 16, 16, 4), "transpose_19_batch_squares");
  EXPECT_EQ(batch(1000000, 7, 5, 4), "transpose_20_batch");
  EXPECT_EQ(batch(100000, 64, 64, 4), "transpose_14_evict_last");
}
TEST(Plan, ATransposeThatIsACopyIsOne) { EXPECT_EQ(chosen({1, 4096}, true, 4), "copy_05_evict_last"); }
TEST(Plan, EveryCaseOfTheCorpusHasAnAnswer) {
  for (int e : kElementSizes)
    for (Case const& c : corpus())
      for (bool transpose : {false, true}) EXPECT_EQ(chosen(c, transpose, e).empty(), c.M * c.N == 0) << c.name();
}
TEST(Plan, NarrowRowsFallBackToACopyWhereNothingElseRuns) {
  Tensor const src = view(reinterpret_cast<void*>(1ull << 40), 4, {3, 5, 7}, {100, 32, 1});
  Tensor const dst = view(reinterpret_cast<void*>(1ull << 41), 4, {3, 5, 7}, {1000, 16, 1});
  EXPECT_EQ(chosen(make_move(dst, src)), "copy_01_scalar");
}
TEST(Plan, NobodyCanAndSaysSo) {
  Tensor const src = view(reinterpret_cast<void*>(1ull << 40), 4, {2, 8, 8}, {500, 2, 32});
  Tensor const dst = view(reinterpret_cast<void*>(1ull << 41), 4, {2, 8, 8}, {64, 8, 1});
  Move const move = make_move(dst, src);
  EXPECT_EQ(chosen(move), "");
  EXPECT_NE(why_of(move).find("a general move, on H200"), std::string::npos) << why_of(move);
  EXPECT_NE(why_of(move).find("no variant can run it"), std::string::npos);
}
TEST(Plan, SaysWhy) {
  std::string const why = why_of(moved({4095, 4097}, true, 4));
  EXPECT_EQ(why.find("move of 16777215 elements of 4 bytes, a transpose, on H200\n"
                     "  mode 0: extent 4095, source stride 16388 B, destination stride 4 B\n"
                     "  mode 1: extent 4097, source stride 4 B, destination stride 16380 B\n"
                     "chosen: transpose_15_odd_pitch"),
            0u)
      << why;
  EXPECT_NE(why.find("chosen: transpose_15_odd_pitch"), std::string::npos) << why;
  EXPECT_NE(why.find("global load"), std::string::npos) << why;
  EXPECT_NE(why.find("transpose_14_evict_last: rows of 16388 bytes are no whole number"), std::string::npos) << why;
  EXPECT_NE(why.find("transpose_06_smem_swizzled: "), std::string::npos) << why;
  EXPECT_NE(why.find("transpose_17_few_columns: 4097 columns are more than 64"), std::string::npos) << why;
}

// Where a bound is read off measurements, the row says so when it is passed over.
TEST(Plan, SaysWhichBoundsWereMeasured) {
  int measured = 0;
  for (Candidate<Move> const& row : candidates<Move>())
    if (*row.want.measured) {
      ++measured;
      bool said = false;
      for (Case const& c : {Case{4096, 4096}, Case{4095, 4097}, Case{129, 129}, Case{1000003, 3}, Case{3, 8000024}}) {
        std::string const why = why_of(moved(c, true, 4));
        said |= why.find(std::string("; ") + row.want.otherwise + " (measured: " + row.want.measured + ")\n") !=
                std::string::npos;
      }
      EXPECT_TRUE(said) << row.variant.info->name << row.as;
    }
  EXPECT_GE(measured, 1);
}

// ---- running it, with other operands than the plan was made with
Move ran;
void* ran_in = nullptr;
void note(Move const& move, Device const&, void* workspace, cudaStream_t) { ran = move, ran_in = workspace; }
Reason takes_all(Move const&, Device const&) { return {}; }
Reason takes_none(Move const&, Device const&) { return {"it has had enough"}; }
Counts no_counts(Move const&, Device const&) { return {}; }
constexpr Info<Move> info_of(char const* name, Reason (*rejects)(Move const&, Device const&)) {
  return {.name = name,
          .idea = "Notes what it is asked to run.",
          .source = "a test",
          .ladder = Ladder::none,
          .origin = Origin::ours,
          .family = name,
          .rejects = rejects,
          .counts = no_counts};
}
constexpr Info<Move> notes = info_of("notes", takes_all), refuses = info_of("refuses", takes_none);
using Rows = std::span<Candidate<Move> const>;
bool any(Planner<Move>::Facts const&) { return true; }
bool never(Planner<Move>::Facts const&) { return false; }

TEST(Plan, RunsBetweenOtherPlaces) {
  Candidate<Move> const rows[] = {{.variant = {&notes, note}, .want = {any}}};
  Move const move = moved({7, 9, 1, 3, 1}, true, 4);
  Plan const plan = make_plan(move, Device{}, false, Rows(rows));
  ASSERT_EQ(plan.steps, 1);
  char dst[4096], src[4096];
  ran = {}, ran_in = dst;
  run(plan, Device{}, {{dst, src, nullptr}, nullptr}, nullptr);
  EXPECT_EQ(ran.dst, dst);
  EXPECT_EQ(ran.src, src);
  EXPECT_EQ(ran_in, nullptr);
  ASSERT_TRUE(ran.as_transpose());
  EXPECT_EQ(ran.as_transpose()->in, src);
  EXPECT_EQ(ran.as_transpose()->out, dst);
  EXPECT_EQ(ran.as_transpose()->ld_in, move.as_transpose()->ld_in);
}
// A view that runs backwards is given by its first element, which is not where its memory begins.
TEST(Plan, RunsViewsThatGoBackwards) {
  Candidate<Move> const rows[] = {{.variant = {&notes, note}, .want = {any}}};
  char dst[4096], src[4096];
  Tensor const to = view(dst + 28, 4, {8}, {-1}), from = view(src, 4, {8}, {1});
  Plan const plan = make_plan(make_move(to, from), Device{}, false, Rows(rows));
  run(plan, Device{}, {{dst + 1028, src + 1000, nullptr}, nullptr}, nullptr);
  EXPECT_EQ(ran.dst, dst + 1000);
  EXPECT_EQ(ran.src, src + 1028);
  EXPECT_EQ(ran.mode[0].src_stride, -4);
}
TEST(Plan, TakesTheFirstThatIsWantedAndRuns) {
  Candidate<Move> const rows[] = {{.variant = {&notes, note}, .want = {never, "never wanted", "on paper"}},
                                  {.variant = {&refuses, note}, .want = {any}},
                                  {.as = "again", .variant = {&notes, note}, .want = {any}},
                                  {.variant = {&notes, note}, .want = {any}}};
  Move const move = moved({7, 9}, true, 4);
  Plan const plan = make_plan(move, Device{}, false, Rows(rows));
  EXPECT_EQ(plan.row, 2);
  EXPECT_EQ(plan.find<Move>()->variant, &rows[2].variant);
  EXPECT_EQ(plan.find<Move>(1), nullptr);
  std::string const text = why(plan, move, Device{}, false, Rows(rows));
  for (char const* line : {"     notes: 0 sectors, 0 shared wavefronts; never wanted (measured: on paper)\n",
                           "     refuses: it has had enough\n", "  -> notes (again): 0 sectors, 0 shared wavefronts\n",
                           "     notes: 0 sectors, 0 shared wavefronts; comes later\n"})
    EXPECT_NE(text.find(line), std::string::npos) << line << text;
  EXPECT_EQ(make_plan(move, Device{}, false, Rows(rows).first(2)).row,
            0);  // what is not wanted, where nothing else runs
}

}  // namespace
}  // namespace inlay::test
