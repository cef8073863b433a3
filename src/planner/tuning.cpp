#include <inlay/planner/candidate.h>
#include <inlay/planner/copy_tiling.h>
#include <inlay/planner/tuning.h>

#include <algorithm>

namespace inlay::planner {
namespace {

constexpr double kOtherCandidates = 2, kOtherTilings = 1.4;  // times the shortest predicted time
constexpr std::size_t kMostPlans = 64;

void add(std::vector<Plan>& plans, Attempt& attempt, int candidate) {
  if (attempt.rejected || !(attempt.plan.seconds > 0)) return;
  attempt.plan.candidate = candidate;
  plans.push_back(std::move(attempt.plan));
}

}  // namespace

std::vector<Plan> plans_to_time(Copy const& copy, Device const& device) {
  if (copy.elements() == 0) return {};
  std::vector<Plan> first, others;  // with the planner's tilings; with others
  auto const all = candidates<Copy>();
  for (int i = 0; i < int(all.size()); ++i) {
    Candidate<Copy> const& candidate = all[std::size_t(i)];
    Attempt planned = attempt_in_chunks(candidate, copy, device, false);
    bool const is_tiled = candidate.kernel.info->limits && !planned.rejected && planned.plan.is_whole();
    add(first, planned, i);
    if (!is_tiled) continue;
    std::vector<Tiling> tilings(256);
    int const n = enumerate_tilings(copy.widened(), *candidate.kernel.info->limits, tilings);
    for (int t = 0; t < n; ++t) {
      Copy tiled = copy;
      tiled.tiling = tilings[std::size_t(t)];
      Attempt other = Planner<Copy>::attempt(candidate, tiled, device, false);
      add(others, other, i);
    }
  }
  auto const shorter = [](Plan const& a, Plan const& b) { return a.seconds < b.seconds; };
  if (first.empty()) return {};
  double const shortest = std::ranges::min_element(first, shorter)->seconds;
  std::erase_if(first, [&](Plan const& p) { return p.seconds > kOtherCandidates * shortest; });
  std::erase_if(others, [&](Plan const& p) { return p.seconds > kOtherTilings * shortest; });
  first.insert(first.end(), others.begin(), others.end());
  std::ranges::stable_sort(first, shorter);
  if (first.size() > kMostPlans) first.resize(kMostPlans);
  return first;
}

}  // namespace inlay::planner
