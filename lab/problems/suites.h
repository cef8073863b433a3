// The problem lists under suites/; suites/README.md says what stands in them.
#pragma once
#include <string>
#include <vector>

#include "problems/problems.h"

namespace inlay::lab {

// One table: a problem, and its rows besides those that it is held against. Names or "production"; none: all.
struct SuiteCase {
  Problem problem;
  std::vector<std::string> variants;
  std::string suite;  // what the rows are filed under
};

// By name, of transposes in suites/, of products in suites/gemm/; or the path of a file that ends in .json. Throw UsageError
// when there is no such suite, with the names of those there are, and when its file is wrong.
std::vector<SuiteCase> load_suite(std::string const& name);
std::vector<SuiteCase> load_gemm_suite(std::string const& name);

}  // namespace inlay::lab
