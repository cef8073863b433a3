// The time model, see explanation.h.
#pragma once
#include <vector>

#include "explain/explanation.h"

namespace inlay {

// The busiest first.
std::vector<Resource> resources_of(Explanation const& x);
double seconds_of(Explanation const& x);

}  // namespace inlay
