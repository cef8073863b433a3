// Reads the problem lists under suites/, whose format is described in suites/README.md.
#pragma once
#include <string>
#include <vector>

#include "problems/problem.h"
#include "problems/sharded_case.h"

namespace inlay::lab {

// One table: a problem, and its selected rows besides the baselines (Selection).
struct SuiteCase {
  Problem problem;
  std::vector<std::string> kernels;
  std::string suite;  // the suite's name in the rows
};

// Loads a suite by its name in the folder notation().suites, or by the path of a file that ends in .json. Fields that a
// case of the file omits are those of `defaults`. Throws UsageError if the file is not valid, or, with the names of all
// suites, if there is none.
template <class C>
std::vector<SuiteCase> load_suite(std::string const& asked, C const& defaults);

// The suites of these folders, by their paths in the source tree without ".json": "suites/gemm/wild".
std::vector<std::string> suites_in(std::vector<std::string> const& folders);

// The same of suites/redistribute.
std::vector<ShardedCase> load_redistributions(std::string const& asked);

}  // namespace inlay::lab
