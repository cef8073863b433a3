// `inlay verify`
#pragma once
#include <string>
#include <vector>

#include "problems/problem.h"

namespace inlay::lab {

// The kernels with these names, or else all that begin with them, each once; all kernels if `typed` is empty.
// Throws UsageError for an unknown name.
std::vector<std::string> chosen_kernels(std::vector<std::string> const& typed);

// Prints what is checked, then a line for each kernel and each problem of its kind. Returns false if a check failed,
// and if no kernel takes any of the problems. Problems must be valid. Throws UsageError, before the first check, for
// problems whose replay would take too long.
bool verify(std::vector<std::string> const& kernels, std::vector<Problem> const& problems, bool on_cpu);

}  // namespace inlay::lab
