// `inlay verify`
#pragma once
#include <string>
#include <vector>

#include "problems/problems.h"

namespace inlay::lab {

struct VerifyOptions {
  std::vector<std::string> variants;  // names or their beginnings; none: all
  Case move{1003, 517, 1, 4};
  std::vector<int> elem_bytes{1, 2, 4, 8, 16};  // one case each
  GemmCase product = [] {
    GemmCase c;
    c.M = 131, c.N = 275, c.K = 67;
    return c;
  }();
  std::vector<std::string> layouts{"nn", "nt", "tn", "tt"};  // one case each
  bool cpu = false;
};

// One line per variant and element size or layout; false when something failed.
bool verify(VerifyOptions const& options);

}  // namespace inlay::lab
