// The planner: what it picks, and what it says. No GPU.
#include <gtest/gtest.h>

#include "corpus.h"
#include "plan/plan.h"

namespace inlay::test {
namespace {

MovePlan planned(Case const& c, bool transpose, int e) {
  Views const v = views_of(c, transpose);
  return plan_move(move_of(c, v, reinterpret_cast<void*>(1ull << 40), reinterpret_cast<void*>(1ull << 41), e),
                   Device{});
}
std::string chosen(Case const& c, bool transpose, int e) {
  MovePlan const plan = planned(c, transpose, e);
  return plan.chosen ? plan.chosen->info->name : "";
}

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
    return std::string(plan_move(make_move(dst, src.transposed()), Device{}).chosen->info->name);
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
      for (bool transpose : {false, true}) EXPECT_NE(chosen(c, transpose, e), "") << c.name();
}
TEST(Plan, NarrowRowsFallBackToACopyWhereNothingElseRuns) {
  Tensor const src = view(reinterpret_cast<void*>(1ull << 40), 4, {3, 5, 7}, {100, 32, 1});
  Tensor const dst = view(reinterpret_cast<void*>(1ull << 41), 4, {3, 5, 7}, {1000, 16, 1});
  MovePlan const plan = plan_move(make_move(dst, src), Device{});
  ASSERT_TRUE(plan.chosen);
  EXPECT_STREQ(plan.chosen->info->name, "copy_01_scalar");
}
TEST(Plan, NobodyCanAndSaysSo) {
  Tensor const src = view(reinterpret_cast<void*>(1ull << 40), 4, {2, 8, 8}, {500, 2, 32});
  Tensor const dst = view(reinterpret_cast<void*>(1ull << 41), 4, {2, 8, 8}, {64, 8, 1});
  MovePlan const plan = plan_move(make_move(dst, src), Device{});
  EXPECT_EQ(plan.chosen, nullptr);
  EXPECT_NE(plan.why(Device{}).find("no variant can run it"), std::string::npos);
}
TEST(Plan, SaysWhy) {
  std::string const why = planned({4095, 4097}, true, 4).why(Device{});
  EXPECT_NE(why.find("chosen: transpose_15_odd_pitch"), std::string::npos) << why;
  EXPECT_NE(why.find("global load"), std::string::npos) << why;
  EXPECT_NE(why.find("transpose_14_evict_last: rows of 16388 bytes are no whole number"), std::string::npos) << why;
  EXPECT_NE(why.find("transpose_06_smem_swizzled: "), std::string::npos) << why;
  EXPECT_NE(why.find("transpose_17_few_columns: 4097 columns are more than 64"), std::string::npos) << why;
}

}  // namespace
}  // namespace inlay::test
