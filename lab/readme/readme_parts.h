// What the tables of a Markdown file share.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "results/results.h"

namespace inlay::lab {

inline constexpr char const* kNone = "–";  // a cell without a number
std::string cell(std::optional<double> x, int digits);

// The tutorials' figures for a variant.
std::string figures(std::vector<Published> const& published, std::string const& variant);

// A line for each variant of the suite "ladder", a column for each of its cases.
std::string gemm_ladder_table(Results const& results);

// A line for each case of another suite: cuBLAS and the public function, with and without what it may use.
std::string gemm_suite_table(Results const& results, std::string const& suite);

}  // namespace inlay::lab
