// Choose::measured: times plans and takes the fastest.
#pragma once
#include <inlay/planner/plan.h>

#include <vector>

namespace inlay {

struct Timing {
  planner::Plan plan;  // without a candidate if there was none
  double us = 0;
};

// Runs the plans on `stream`, in turn, until each has been timed several times or `milliseconds` are spent, and returns
// the one with the shortest time. Synchronises.
Timing fastest(std::vector<planner::Plan> plans, std::size_t num_candidates, model::Device const& device,
               double milliseconds, planner::Operands const& operands, cudaStream_t stream);

// Runs a plan for a copy into other memory and compares it bit for bit with the destination, which another plan has
// written. Throws Error if it differs. Allocates as many bytes as the destination spans; synchronises.
void check_same_bytes(planner::Plan const& plan, model::Device const& device, ConstTensor const& dst, void const* src,
                      cudaStream_t stream);

}  // namespace inlay
