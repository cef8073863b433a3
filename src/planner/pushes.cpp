#include <inlay/model/format.h>
#include <inlay/planner/candidate.h>
#include <inlay/planner/copy_list.h>
#include <inlay/planner/pushes.h>

namespace inlay::planner {
namespace {

constexpr double kBarrierSeconds = 2.5e-6;  // in a graph: results/h200x2/redistribute.json

}  // namespace

Pushes pushes_of(std::span<Transfer const> transfers, int rank) {
  Pushes pushes;
  for (Transfer const& t : transfers) {
    if (!t.dst.data || t.dst.size() == 0) continue;
    pushes.dst.push_back(t.dst), pushes.src.push_back(t.src);
    (t.rank == rank ? pushes.to_itself : pushes.to_others) += t.dst.size() * bytes_of(t.dst.dtype);
  }
  return pushes;
}

PushPlan plan_of(Pushes const& pushes, int ranks, Device const& device) {
  PushPlan planned;
  auto const plan_for = [&](Copy const& copy) -> std::shared_ptr<Plan const> {
    Plan plan = make_plan(copy, device, false);
    if (plan.candidate >= 0) return std::make_shared<Plan const>(std::move(plan));
    if (copy.pairs == 1) throw Error("no kernel takes a part of this redistribution", ErrorCode::unsupported);
    return nullptr;
  };
  std::vector<CopyGroup> groups = group_copies(pushes.dst, pushes.src);
  auto const plans = plan_groups(groups, plan_for, true);
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (groups[i].pairs.empty()) continue;
    planned.copy_seconds += plans[i]->seconds * (is_list(*plans[i]) ? 1 : double(groups[i].pairs.size()));
    planned.copies += why(*plans[i], groups[i].copy, device, false);
  }
  if (double const gbps = link_gbps(device); gbps > 0) planned.link_seconds = 1e-9 * double(pushes.to_others) / gbps;
  if (ranks > 1) planned.barrier_seconds = 2 * kBarrierSeconds;
  return planned;
}

std::string why(Pushes const& pushes, int rank, int ranks, Device const& device) {
  PushPlan const planned = plan_of(pushes, ranks, device);
  std::string s = "rank " + std::to_string(rank) + " of " + std::to_string(ranks) + " stores " +
                  std::to_string(pushes.to_others) + " bytes to other ranks and " + std::to_string(pushes.to_itself) +
                  " to its own part\n";
  if (planned.link_seconds > 0)
    s += format(
        "  %.2f us predicted, limited by %s: the link takes %.2f us at %.0f GB/s, the copies %.2f us, the "
        "barriers %.1f us\n",
        1e6 * planned.seconds(), planned.link_seconds > planned.copy_seconds ? "the link" : "this GPU",
        1e6 * planned.link_seconds, link_gbps(device), 1e6 * planned.copy_seconds, 1e6 * planned.barrier_seconds);
  return s + planned.copies;
}

}  // namespace inlay::planner
