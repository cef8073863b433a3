#include <inlay/planner/candidate.h>
#include <inlay/planner/copy_list.h>
#include <inlay/redistribute.h>

#include <algorithm>

namespace inlay {
namespace {

// The transfers that this rank can make itself, as lists.
struct Pushes {
  std::vector<Tensor> dst;
  std::vector<ConstTensor> src;
  std::int64_t to_others = 0, to_itself = 0;  // bytes

  Pushes(std::vector<Transfer> const& all, int rank) {
    for (Transfer const& t : all) {
      if (!t.dst.data || t.dst.size() == 0) continue;
      dst.push_back(t.dst), src.push_back(t.src);
      (t.rank == rank ? to_itself : to_others) += t.dst.size() * bytes_of(t.dst.dtype);
    }
  }
};

}  // namespace

void redistribute(Sharded const& dst, std::span<void* const> parts, ConstSharded const& src, int rank,
                  cudaStream_t stream) {
  Pushes const pushes(transfers(dst, parts, src, rank), rank);
  detail::planned_pushes(pushes.dst, pushes.src, stream)();
}

std::string why(Sharded const& dst, std::span<void* const> parts, ConstSharded const& src, int rank) {
  Pushes const pushes(transfers(dst, parts, src, rank), rank);
  planner::Device const& device = planner::current_device();
  std::string plans;
  double seconds = 0;
  auto const add = [&](planner::CopyGroup const& group, planner::Plan const& plan) {
    seconds += plan.seconds;
    plans += planner::why(plan, group.copy, device, false);
  };
  std::vector<planner::CopyGroup> groups = planner::group_copies(pushes.dst, pushes.src);
  std::vector<std::vector<std::size_t>> merged_from;
  std::vector<planner::CopyGroup> const merged = planner::merged_groups(groups, merged_from);
  for (std::size_t k = 0; k < merged.size(); ++k) {  // as planned_pushes() does
    planner::Plan const plan = planner::make_plan(merged[k].copy, device, false);
    if (plan.candidate < 0) continue;
    add(merged[k], plan);
    for (std::size_t i : merged_from[k]) groups[i].pairs.clear();
  }
  for (planner::CopyGroup const& group : groups)
    if (!group.pairs.empty()) add(group, planner::make_plan(group.copy, device, false));
  double const gbps = planner::link_gbps(device), link = gbps > 0 ? double(pushes.to_others) / gbps * 1e-9 : 0;
  std::string s = "rank " + std::to_string(rank) + " of " + std::to_string(parts.size()) + " stores " +
                  std::to_string(pushes.to_others) + " bytes to other ranks and " + std::to_string(pushes.to_itself) +
                  " to its own part\n";
  if (link > 0)
    s += planner::format("  %.2f us predicted: the link takes %.2f us at %.0f GB/s, the copies %.2f us\n",
                         1e6 * std::max(link, seconds), 1e6 * link, gbps, 1e6 * seconds);
  return s + plans;
}

}  // namespace inlay
