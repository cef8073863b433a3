// `inlay compare`: the rows that became slower or faster between two results files.
#pragma once
#include <filesystem>
#include <string>

#include "problems/problem.h"

namespace inlay::lab {

struct Comparison {
  std::string text;  // a line for each row that became worse, then the counts
  bool worse;
};

// Rows of the same case and kernel, and of the same suite if there is one, are compared by their shares of the copy
// limit or of cuBLAS, or by their rates if one of the two has no share. A sustained row is compared with none that was
// timed interleaved. A row is worse if its figure fell by more than `tolerance` percent, or if its check result was ok
// and is not any more. Throws UsageError if a file cannot be read, or if the files have no row in common.
Comparison compare(std::filesystem::path const& before, std::filesystem::path const& after, double tolerance);

}  // namespace inlay::lab
