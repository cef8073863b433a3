// The choice among candidates by predicted time, and the chunks of a batch that no grid or workspace holds.
#include <inlay/planner/long_sums.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <utility>

namespace inlay::planner {

std::int64_t chunk_granularity(Batch const& batch) {
  std::int64_t bytes = kPlanAlignment;
  for (std::int64_t stride : batch.stride_bytes) bytes = std::gcd(bytes, stride);
  return kPlanAlignment / bytes;
}

template <class P>
Attempt attempt_in_chunks(Candidate<P> const& candidate, P const& problem, Device const& device, WorkspaceLimit limit,
                          typename Planner<P>::Shared& shared, Config const& config) {
  auto const attempt = [&](P const& p, Config const& config) {
    Attempt with = Planner<P>::attempt(candidate, p, device, !limit.is_none(), shared, config);
    if (with.rejected || with.plan.workspace_bytes <= limit.bytes) return with;
    Attempt without = Planner<P>::attempt(candidate, p, device, false, shared, config);
    if (without.rejected)
      without.rejected = {"it needs a workspace of {} bytes, and there are {}",
                          {std::int64_t(with.plan.workspace_bytes), std::int64_t(limit.bytes)},
                          without.rejected.chunks};
    return without;
  };
  Attempt whole = attempt(problem, config);
  if (!whole.rejected.chunks) return whole;
  Batch const batch = Planner<P>::batch(problem);
  std::int64_t const granularity = chunk_granularity(batch);
  for (std::int64_t count = batch.extent, by = whole.rejected.chunks; count > granularity;) {
    count = std::max(count / by, granularity);
    count -= count % (count >= 1024 ? 1024 : granularity);
    Attempt a = attempt(Planner<P>::chunk(problem, count), {});
    by = a.rejected.chunks;
    if (by) continue;
    if (a.rejected) return a;
    a.plan.chunks = batch.extent / count;
    a.plan.seconds *= double(batch.extent) / double(count);
    for (std::size_t k = 0; k < batch.stride_bytes.size(); ++k) a.plan.chunk_bytes[k] = count * batch.stride_bytes[k];
    if (std::int64_t const left = batch.extent % count) {
      Attempt const last = attempt(Planner<P>::chunk(problem, left), {});
      if (last.rejected) return last;
      a.plan.workspace_bytes = std::max(a.plan.workspace_bytes, last.plan.workspace_bytes);
      a.plan.last_chunk = std::make_shared<Plan const>(last.plan);
    }
    return a;
  }
  return whole;
}

template <class P>
Attempt attempt_in_chunks(Candidate<P> const& candidate, P const& problem, Device const& device, WorkspaceLimit limit,
                          Config const& config) {
  typename Planner<P>::Shared shared;
  return attempt_in_chunks(candidate, problem, device, limit, shared, config);
}

template <class P>
Plan make_plan(P const& problem, Device const& device, WorkspaceLimit limit,
               std::type_identity_t<std::span<Candidate<P> const>> all) {
  if (problem.elements() == 0) return {};
  if constexpr (std::is_same_v<P, Gemm>)
    if (is_long_sum(problem) && takes_parts(problem)) return plan_long_sums(problem, device, limit, all);
  auto const wanted = Planner<P>::wanted(problem, device, limit, all);
  typename Planner<P>::Shared shared;
  for (bool applies : {true, false}) {
    Plan best;
    for (Candidate<P> const& candidate : all) {
      if (Planner<P>::applies(candidate, problem, wanted) != applies) continue;
      int const index = int(&candidate - all.data());
      Attempt a = attempt_in_chunks(candidate, problem, device, limit, shared);
      best.num_compared = index + 1;
      if (a.rejected) continue;
      if (!(a.plan.seconds > 0 && std::isfinite(a.plan.seconds))) continue;
      if (best.candidate >= 0 && !(a.plan.seconds < best.seconds)) continue;
      best = a.plan;
      best.candidate = index, best.num_compared = index + 1;
      if (Planner<P>::is_best(best, problem, device)) return best;
    }
    if (best.candidate >= 0) return best;
  }
  if constexpr (std::is_same_v<P, Gemm>)
    if (may_be_long_sum(problem) && takes_parts(problem)) return plan_long_sums(problem, device, limit, all);
  return {};
}

template Attempt attempt_in_chunks(Candidate<Copy> const&, Copy const&, Device const&, WorkspaceLimit,
                                   Planner<Copy>::Shared&, Config const&);
template Attempt attempt_in_chunks(Candidate<Copy> const&, Copy const&, Device const&, WorkspaceLimit, Config const&);
template Plan make_plan(Copy const&, Device const&, WorkspaceLimit, std::span<Candidate<Copy> const>);
template Attempt attempt_in_chunks(Candidate<Gemm> const&, Gemm const&, Device const&, WorkspaceLimit,
                                   Planner<Gemm>::Shared&, Config const&);
template Attempt attempt_in_chunks(Candidate<Gemm> const&, Gemm const&, Device const&, WorkspaceLimit, Config const&);
template Plan make_plan(Gemm const&, Device const&, WorkspaceLimit, std::span<Candidate<Gemm> const>);

}  // namespace inlay::planner
