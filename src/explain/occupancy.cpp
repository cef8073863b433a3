#include "explain/occupancy.h"

#include <algorithm>
#include <cmath>

namespace inlay {

int resident_blocks(Launch const& l, Gpu const& gpu) {
  int n = std::min(32, gpu.max_threads / int(l.threads));
  n = std::min(n, int(std::size_t(gpu.shared_bytes) / (l.shared_bytes + 1024)));
  if (l.blocks_per_sm) n = std::min(n, l.blocks_per_sm);
  if (l.min_blocks) n = std::min(n, l.min_blocks);  // the compiler takes the registers that this leaves it
  return std::max(n, 1);
}

Occupancy occupancy_of(Launch const& l, Gpu const& gpu) {
  double const each = double(l.blocks) / gpu.sm_count, most = std::ceil(each);
  int const room = resident_blocks(l, gpu);
  return {each, most, std::max(1, int(std::min<double>(room, most))), each / room};
}

}  // namespace inlay
