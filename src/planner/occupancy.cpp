#include <inlay/planner/time_model.h>

#include <algorithm>
#include <cmath>

namespace inlay::planner {

int resident_blocks(LaunchDemand const& l, Device const& device) {
  int n = std::min(32, device.max_threads / int(l.threads));
  n = std::min(n, int(std::size_t(device.shared_bytes) / (l.shared_bytes + 1024)));
  if (l.blocks_per_sm) n = std::min(n, l.blocks_per_sm);
  if (l.min_blocks) n = std::min(n, l.min_blocks);  // the compiler takes the registers that this leaves it
  return std::max(n, 1);
}

Occupancy occupancy_of(LaunchDemand const& l, Device const& device) {
  double const each = double(l.blocks) / device.sm_count, most = std::ceil(each);
  int const resident = resident_blocks(l, device);
  return {each, most, std::max(1, int(std::min<double>(resident, most))), each / resident};
}

}  // namespace inlay::planner
