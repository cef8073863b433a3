// The device kernels of one launch of a plan, with all parameters but the addresses: what a plan keeps for its runs.
#pragma once
#include <cuda_runtime_api.h>
#include <inlay/model/symbolic.h>

#include <functional>
#include <span>
#include <vector>

namespace inlay::model {

// The operands of one copy of a list.
struct Pair {
  void* dst;
  void const* src;
};

class MadeLaunches {
 public:
  // A kernel in launch order. Launching copies its parameters, puts addresses in their place, and enqueues the kernel.
  using Launch = std::function<void(BaseAddresses const&, cudaStream_t)>;

  // The kernel of a list of copies, launched for all pairs.
  using ListLaunch = std::function<void(std::span<Pair const>, cudaStream_t)>;

  void add(Launch launch) { launches_.push_back(std::move(launch)); }
  void set_list(ListLaunch launch) { list_ = std::move(launch); }
  std::size_t count() const { return launches_.size(); }
  void run(BaseAddresses const& places, cudaStream_t stream) const {
    for (Launch const& launch : launches_) launch(places, stream);
  }
  void run(std::span<Pair const> pairs, cudaStream_t stream) const { list_(pairs, stream); }

 private:
  std::vector<Launch> launches_;
  ListLaunch list_;
};

}  // namespace inlay::model
