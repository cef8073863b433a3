// What one rank of a redistribution stores into the memory of ranks, and how long that should take.
#pragma once
#include <inlay/model/device.h>
#include <inlay/redistribute.h>

#include <algorithm>
#include <span>
#include <string>
#include <vector>

namespace inlay::planner {
using namespace model;

struct Pushes {
  std::vector<Tensor> dst;  // of the transfers that have elements and an address to store to
  std::vector<ConstTensor> src;
  std::int64_t to_others = 0, to_itself = 0;  // bytes
};
Pushes pushes_of(std::span<Transfer const> transfers, int rank);

// The plan of these stores: all that can share a launch does, and the link and the GPU's own memory are busy at once.
// Tuned choices are not looked up.
struct PushPlan {
  double link_seconds = 0, copy_seconds = 0, barrier_seconds = 0;  // link: 0 if its rate is not known
  std::string copies;                                              // why() of each launch
  double seconds() const { return std::max(link_seconds, copy_seconds) + barrier_seconds; }
};
PushPlan plan_of(Pushes const& pushes, int ranks, Device const& device);
std::string why(Pushes const& pushes, int rank, int ranks, Device const& device);

}  // namespace inlay::planner
