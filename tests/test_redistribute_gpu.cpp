// Redistributions between the GPUs of this host, or between two ranks on its only one.
#include <gtest/gtest.h>

#include "measure/gpu.h"
#include "measure/redistribute.h"
#include "problems/suites.h"

namespace inlay::lab {
namespace {

TEST(RedistributeGpu, EveryElementArrivesInEveryRound) {
  if (auto const why = why_no_gpu(); !why.empty()) GTEST_SKIP() << why;
  int cases = 0;
  check_redistributions(load_redistributions("small"), 50, [&](Redistributed const& row) {
    EXPECT_EQ(row.wrong, 0) << row.problem.sentence();
    ++cases;
  });
  EXPECT_EQ(cases, 15);
}

}  // namespace
}  // namespace inlay::lab
