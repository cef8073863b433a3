// The time model, see explanation.h.
#pragma once
#include <vector>

#include "explain/explanation.h"

namespace inlay {

// The busiest first.
std::vector<Resource> resources_of(Explanation const& x);
struct Prediction {
  double seconds = 0;
  std::string limit;  // a resource's name
};
Prediction prediction_of(Explanation const& x);

}  // namespace inlay
