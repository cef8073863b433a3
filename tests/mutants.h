// What the tests of broken kernels share.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include <inlay/replay/recorder.h>

namespace inlay::test {

// Each of these checks has found something, and no other has.
inline void expect_only(replay::Recorder const& r, std::vector<replay::Check> const& checks) {
  for (replay::Check c : checks) EXPECT_TRUE(r.found(c)) << "not found: " << name_of(c);
  for (replay::Finding const& f : r.findings)
    EXPECT_TRUE(std::count(checks.begin(), checks.end(), f.check)) << name_of(f.check) << ": " << f.sentence;
}

}  // namespace inlay::test
