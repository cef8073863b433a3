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

TEST(Plan, PicksByAlignment) {
  EXPECT_EQ(chosen({4096, 4096}, true, 4), "transpose_09_vector_swizzled");
  EXPECT_EQ(chosen({4095, 4097}, true, 4), "transpose_10_cp_async");
  EXPECT_EQ(chosen({4095, 4097}, true, 1), "transpose_06_smem_swizzled");
  EXPECT_EQ(chosen({4096, 4096}, false, 4), "copy_03_vector");
  EXPECT_EQ(chosen({4095, 4097}, false, 2), "copy_01_scalar");
}
TEST(Plan, ATransposeThatIsACopyIsOne) { EXPECT_EQ(chosen({1, 4096}, true, 4), "copy_03_vector"); }
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
  EXPECT_NE(plan.why().find("no variant can run it"), std::string::npos);
}
TEST(Plan, SaysWhy) {
  std::string const why = planned({4095, 4097}, true, 4).why();
  EXPECT_NE(why.find("chosen: transpose_10_cp_async"), std::string::npos) << why;
  EXPECT_NE(why.find("cp.async"), std::string::npos) << why;
  EXPECT_NE(why.find("transpose_09_vector_swizzled: rows of 16388 bytes are no whole number"), std::string::npos)
      << why;
  EXPECT_NE(why.find("transpose_06_smem_swizzled: "), std::string::npos) << why;
}

}  // namespace
}  // namespace inlay::test
