// The tables of a Markdown file.
#pragma once
#include <optional>
#include <string>

#include "results/results.h"

namespace inlay::lab {

// The table for a marker <!-- table:h200-NAME -->, from the files under results/h200; empty for an unknown name:
//
//   N-ELEM        transposes of N x N elements of ELEM bytes: a line for each kernel, inlay's and then the baselines'
//   suite-SUITE   the cases of suites/SUITE.json: inlay::transpose, and the baselines' shares of the same copy limit
//   brief-copies  six of these cases, for README.md
//   copy-suites   inlay::copy: the geometric mean and the least share of each class of the copy suites
//   copy-cases    inlay::copy: each of the single cases
//   gemm-ladder   the suite "ladder": a line for each kernel, a column for each case; hgemm-ladder and sgemm_tc-ladder
//   likewise
//   gemm-SUITE    the cases of suites/gemm/SUITE.json: cuBLAS, and inlay::gemm with different options
//   brief-GEMMs   shares of cuBLAS of some squares, for README.md: a column for each pair of operand transposes
//
// Throws UsageError if the suite or its rows are missing.
std::optional<std::string> table_named(std::string const& name, Recorded const& recorded);

}  // namespace inlay::lab
