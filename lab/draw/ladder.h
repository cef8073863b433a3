// What was recorded, as bars.
#pragma once
#include <string>

#include "problems/transpose_case.h"

namespace inlay::lab {

// A bar for each recorded row of the case, against the copy limit. Throws UsageError when nothing is recorded for it.
std::string draw_ladder(TransposeCase const& c);

}  // namespace inlay::lab
