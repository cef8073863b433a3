// The device kernels of one launch of a plan, with all parameters but the addresses: what a plan keeps for its runs.
#pragma once
#include <cuda_runtime_api.h>
#include <inlay/planner/symbolic.h>

#include <functional>
#include <vector>

namespace inlay::planner {

class MadeLaunches {
 public:
  // A kernel in launch order. Launching copies its parameters, puts addresses in their place, and enqueues the kernel.
  using Launch = std::function<void(Places const&, cudaStream_t)>;

  void add(Launch launch) { launches_.push_back(std::move(launch)); }
  std::size_t count() const { return launches_.size(); }
  void run(Places const& places, cudaStream_t stream) const {
    for (Launch const& launch : launches_) launch(places, stream);
  }

 private:
  std::vector<Launch> launches_;
};

}  // namespace inlay::planner
