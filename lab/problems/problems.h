// The two kinds of problem side by side, for what treats them alike: rows, tables, files, comparisons.
#pragma once
#include <string>
#include <variant>

#include "problems/cases.h"
#include "problems/gemm_cases.h"

namespace inlay::lab {

using Problem = std::variant<Case, GemmCase>;

std::string sentence(Problem const& problem);

// What a row of this kind is measured in: its rate, and the share of another's rate that it is judged by.
struct Units {
  char const *rate, *rate_key, *share, *share_key;  // in a table; in a file
  char const* yardstick;                            // what has the share 1
  int digits;                                       // of a rate, behind the point
};
Units const& units(Problem const& problem);

}  // namespace inlay::lab
