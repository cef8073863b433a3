// `inlay verify`
#pragma once
#include <string>
#include <vector>

#include "problems/problem.h"

namespace inlay::lab {

// A line for each variant and each problem of its kind, which is valid; false when something failed. Variants: names or
// their beginnings; none: all.
bool verify(std::vector<std::string> const& variants, std::vector<Problem> const& problems, bool on_cpu);

}  // namespace inlay::lab
