// Tuning: the plans that are worth timing, and a choice among them that can be kept.
#pragma once
#include <inlay/planner/plan.h>

#include <string>
#include <vector>

namespace inlay::planner {

// The fastest prediction first. Of each candidate its best tiling, if that is predicted to take at most twice the
// shortest time; of kernels with several configurations others too, predicted to take at most 1.4 times the shortest.
// At most 64. A copy that exceeds a grid has no others.
std::vector<Plan> plans_to_time(Copy const& copy, Device const& device);
// The planner's choice first, then the other candidates that accept the problem.
std::vector<Plan> plans_to_time(Gemm const& gemm, Device const& device, WorkspaceLimit limit);

// What a tuned plan is made from again.
struct Choice {
  std::string kernel, label;  // of the candidate
  Config config = {};         // of a copy
  double us = 0;              // measured
};
template <class P>
Choice choice_of(Plan const& plan, double us);
// The plan of a choice; without a candidate if there is none of this name, or if it rejects the problem.
template <class P>
Plan plan_of(Choice const& choice, P const& problem, Device const& device, WorkspaceLimit limit);

}  // namespace inlay::planner
