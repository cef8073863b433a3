// The problem lists under suites/; suites/README.md says what stands in them.
#pragma once
#include <string>
#include <vector>

#include "cases.h"

namespace inlay::lab {

// A word for the rows of a table, beside variants' names: what is in production and what that is held against.
inline constexpr char const* kProduction = "production";

// One table: a problem, and its rows besides the copy limit's. Names or kProduction; none: all.
struct SuiteCase {
  Case shape;
  std::vector<std::string> variants;
};

// Throws UsageError when there is no such suite, with the names of those there are, and when its file is wrong.
std::vector<SuiteCase> load_suite(std::string const& name);

}  // namespace inlay::lab
