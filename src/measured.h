// Choose::measured: times plans of a copy and takes the fastest.
#pragma once
#include <inlay/planner/plan.h>

#include <functional>

namespace inlay {

// Runs the plans of plans_to_time() by `run` on `stream`, in turn, until each has been timed several times or `milliseconds` are spent, and
// returns the one with the shortest time. Synchronises.
planner::Plan measured_plan(problem::Copy const& copy, planner::Device const& device, double milliseconds,
                            std::function<void(planner::Plan const&)> const& run, cudaStream_t stream);

}  // namespace inlay
