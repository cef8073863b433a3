#include <inlay/kernels/copy/copy_tiling.h>
#include <inlay/planner/candidate.h>
#include <inlay/planner/tuning.h>

#include <algorithm>
#include <bit>

namespace inlay::planner {
namespace {

constexpr double kOtherCandidates = 2, kOtherConfigs = 1.4;  // times the shortest predicted time
constexpr std::size_t kMostPlans = 64;

void add(std::vector<Plan>& plans, Attempt& attempt, int candidate) {
  if (attempt.rejected || !(attempt.plan.seconds > 0)) return;
  attempt.plan.candidate = candidate;
  plans.push_back(std::move(attempt.plan));
}

// Whether a tiling, which may come from a file, names modes of the copy and extents that they have.
bool fits(Tiling const& tiling, Copy const& wide) {
  if (!(tiling.modes >= 0 && tiling.modes <= Tiling::kModes && tiling.run_modes >= 0 &&
        tiling.run_modes <= tiling.modes))
    return false;
  if (!(tiling.lanes >= 1 && tiling.lanes <= 32 && std::has_single_bit(unsigned(tiling.lanes)))) return false;
  if (tiling.run_splits < 1 ||
      (tiling.run_modes > 0 && tiling.tiled[tiling.run_modes - 1].extent % tiling.run_splits != 0))
    return false;
  for (int i = 0; i < tiling.modes; ++i) {
    auto const [mode, extent] = tiling.tiled[i];
    if (!(mode >= 0 && mode < wide.rank && extent >= 1 && extent <= wide.mode[mode].extent)) return false;
    if (i > 0 && mode <= tiling.tiled[i - 1].mode) return false;
  }
  return true;
}

}  // namespace

std::vector<Plan> plans_to_time(Copy const& copy, Device const& device) {
  if (copy.elements() == 0) return {};
  std::vector<Plan> first, others;  // with the planner's configurations; with others
  auto const all = candidates<Copy>();
  for (int i = 0; i < int(all.size()); ++i) {
    Candidate<Copy> const& candidate = all[std::size_t(i)];
    Attempt planned = attempt_in_chunks(candidate, copy, device, false);
    Info<Copy> const& info = *candidate.kernel;
    bool const has_others = !planned.rejected && planned.plan.is_whole();
    add(first, planned, i);
    auto const add_other = [&](Config const& config) {
      Planner<Copy>::Shared shared;
      Attempt other = Planner<Copy>::attempt(candidate, copy, device, false, shared, config);
      add(others, other, i);
    };
    if (!has_others) continue;
    for (int tile = 1; tile <= info.tiles; ++tile) add_other({.tile = tile});
    if (!info.limits) continue;
    std::vector<Tiling> tilings(256);
    int const n = kernels::enumerate_tilings(copy.widened(), *info.limits, tilings);
    for (int t = 0; t < n; ++t) add_other({tilings[std::size_t(t)]});
  }
  auto const shorter = [](Plan const& a, Plan const& b) { return a.seconds < b.seconds; };
  if (first.empty()) return {};
  double const shortest = std::ranges::min_element(first, shorter)->seconds;
  std::erase_if(first, [&](Plan const& p) { return p.seconds > kOtherCandidates * shortest; });
  std::erase_if(others, [&](Plan const& p) { return p.seconds > kOtherConfigs * shortest; });
  first.insert(first.end(), others.begin(), others.end());
  std::ranges::stable_sort(first, shorter);
  if (first.size() > kMostPlans) first.resize(kMostPlans);
  return first;
}

std::vector<Plan> plans_to_time(Gemm const& gemm, Device const& device, WorkspaceLimit limit) {
  std::vector<Plan> plans;
  Plan planned = make_plan(gemm, device, limit);
  if (planned.candidate < 0) return plans;
  int const first = planned.candidate;
  plans.push_back(std::move(planned));
  auto const all = candidates<Gemm>();
  for (int i = 0; i < int(all.size()); ++i) {
    Attempt other = attempt_in_chunks(all[std::size_t(i)], gemm, device, limit);
    other.plan.candidate = i;
    if (i != first && !other.rejected) plans.push_back(std::move(other.plan));
  }
  return plans;
}

template <class P>
Choice choice_of(Plan const& plan, double us) {
  Candidate<P> const& candidate = candidates<P>()[std::size_t(plan.candidate)];
  Choice choice{candidate.kernel->name, candidate.label};
  if constexpr (std::is_same_v<P, Copy>)
    if (plan.is_whole()) choice.config = plan.find<Copy>()->config;
  choice.us = us;
  return choice;
}
template Choice choice_of<Copy>(Plan const&, double);
template Choice choice_of<Gemm>(Plan const&, double);

template <class P>
Plan plan_of(Choice const& choice, P const& problem, Device const& device, WorkspaceLimit limit) {
  auto const all = candidates<P>();
  for (Candidate<P> const& candidate : all) {
    if (candidate.kernel->name != choice.kernel || candidate.label != choice.label) continue;
    if constexpr (std::is_same_v<P, Copy>)
      if (!fits(choice.config.tiling, problem.widened()) || choice.config.tile < 0 ||
          choice.config.tile > candidate.kernel->tiles)
        return {};
    Attempt a = attempt_in_chunks(candidate, problem, device, limit, choice.config);
    if (a.rejected) return {};
    a.plan.candidate = int(&candidate - all.data());
    a.plan.tuned_us = choice.us;
    return std::move(a.plan);
  }
  return {};
}
template Plan plan_of(Choice const&, Copy const&, Device const&, WorkspaceLimit);
template Plan plan_of(Choice const&, Gemm const&, Device const&, WorkspaceLimit);

}  // namespace inlay::planner
