// `inlay draw ladder`
#pragma once
#include <string>

#include "problems/copy_case.h"

namespace inlay::lab {

// A bar for each recorded row of the case: its share of the copy limit. Throws UsageError when the case has no row.
std::string draw_ladder(CopyCase const& c);

}  // namespace inlay::lab
