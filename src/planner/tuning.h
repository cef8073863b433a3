// What Choose::measured times: the plans of a copy that are predicted to be nearly as fast as the fastest.
#pragma once
#include <inlay/planner/plan.h>

#include <vector>

namespace inlay::planner {

// The fastest prediction first. Of each candidate its best tiling, if that is predicted to take at most twice the shortest time; of
// tiled kernels other tilings too, predicted to take at most 1.4 times the shortest. At most 64. A copy that exceeds a grid
// has no other tilings.
std::vector<Plan> plans_to_time(Copy const& copy, Device const& device);

}  // namespace inlay::planner
