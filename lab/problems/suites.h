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

// By its name in the folder of suites of `defaults`, or by the path of a file that ends in .json. Throws UsageError if there is no such suite,
// with the names of those that exist, and if its file is wrong. A case has the fields of `defaults` that the file omits.
template <class C>
std::vector<SuiteCase> load_suite(std::string const& asked, C const& defaults);

}  // namespace inlay::lab
