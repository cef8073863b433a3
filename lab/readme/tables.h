// The tables of a Markdown file.
#pragma once
#include <string>

#include "results/results.h"

namespace inlay::lab {

// n x n elements: a line for each kernel, inlay's and then the baselines.
std::string square_table(Recorded const& recorded, std::int64_t n, int elem_bytes);
// A line for each case of a suite: the public function, and the baselines' shares of the same copy limit.
std::string suite_table(Recorded const& recorded, std::string const& suite);

// README's selection of it: without the rate.
std::string brief_copies_table(Recorded const& recorded);

// From results/h200/copy.json: geometric mean and least share of each size and element size; of copy_cases.json: each case.
std::string copy_suites_table();
std::string copy_cases_table();

// README's: the share of cuBLAS for some squares, a column for each layout.
std::string brief_gemms_table(Results const& results);

// A line for each kernel of the suite "ladder", a column for each of its cases.
std::string gemm_ladder_table(Results const& results);
// A line for each case of another suite: cuBLAS and the public function, with and without what it may use.
std::string gemm_suite_table(Results const& results, std::string const& suite);

}  // namespace inlay::lab
