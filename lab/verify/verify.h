// `inlay verify`
#pragma once
#include <string>
#include <vector>

#include "problems/problem.h"

namespace inlay::lab {

// By names or their beginnings; none: all. Each once. Throws UsageError.
std::vector<std::string> chosen_kernels(std::vector<std::string> const& typed);

// What is about to be done, then a line for each kernel and each problem of its kind, which is valid; false when something
// failed. Throws UsageError, before the first, for problems that would take too long on the CPU.
bool verify(std::vector<std::string> const& kernels, std::vector<Problem> const& problems, bool on_cpu);

}  // namespace inlay::lab
