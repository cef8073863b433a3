#include <inlay/planner/pushes.h>
#include <inlay/redistribute.h>

namespace inlay {

void redistribute(Sharded const& dst, std::span<void* const> parts, ConstSharded const& src, int rank,
                  cudaStream_t stream) {
  planner::Pushes const pushes = planner::pushes_of(transfers(dst, parts, src, rank), rank);
  detail::planned_pushes(pushes.dst, pushes.src, stream)();
}

std::string why(Sharded const& dst, std::span<void* const> parts, ConstSharded const& src, int rank) {
  return planner::why(planner::pushes_of(transfers(dst, parts, src, rank), rank), rank, int(parts.size()),
                      model::current_device());
}

}  // namespace inlay
