// Choose::measured: times plans of a copy and takes the fastest.
#pragma once
#include <inlay/planner/plan.h>

namespace inlay {

// Runs the plans of plans_to_time() on `stream`, in turn, until each has been timed several times or `milliseconds` are spent, and
// returns the one with the shortest time; one without a candidate if no kernel can run the copy. Synchronises.
planner::Plan measured_plan(problem::Copy const& copy, planner::Device const& device, double milliseconds,
                            planner::Operands const& operands, cudaStream_t stream);

}  // namespace inlay
