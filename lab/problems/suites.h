// The problem lists under suites/; suites/README.md says what stands in them.
#pragma once
#include <string>
#include <vector>

#include "problems/problem.h"

namespace inlay::lab {

// One table: a problem, and its rows besides those that it is held against. Names or "production"; none: all.
struct SuiteCase {
  Problem problem;
  std::vector<std::string> kernels;
  std::string suite;  // what the rows are filed under
};

// By its name in the kind's folder, or by the path of a file that ends in .json. Throws UsageError when there is no such
// suite, with the names of those there are, and when its file is wrong.
std::vector<SuiteCase> load_suite(AnyKind const& kind, std::string const& asked);
template <KindOf C>
std::vector<SuiteCase> load_suite(std::string const& asked) {
  return load_suite(kAnyKind<C>, asked);
}

}  // namespace inlay::lab
