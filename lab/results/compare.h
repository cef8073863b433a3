// `inlay compare`: what became better or worse from one results file to another.
#pragma once
#include <filesystem>
#include <string>

#include "problems/problem.h"

namespace inlay::lab {

struct Comparison {
  std::string text;  // a line for each row that became worse, then the counts
  bool worse;
};

// Rows are matched by case and kernel and judged by their share of the copy limit or of cuBLAS, or by their rate where one
// of the two has none. Worse is: more than `tolerance` percent less, or a check result that was ok and is no longer. Throws
// UsageError when a file cannot be read, and when the two have no row in common.
Comparison compare(std::filesystem::path const& before, std::filesystem::path const& after, double tolerance);

}  // namespace inlay::lab
