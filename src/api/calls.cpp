#include "calls.h"

#include "access.h"
#include "packed_b.h"

#include <inlay/planner/candidate.h>

#include <algorithm>
#include <string>
#include <utility>

namespace inlay {

using namespace problem;
using model::Device;
using planner::Operands;

planner::PlanCache& cache() {
  static planner::PlanCache& plans = *new planner::PlanCache;
  return plans;
}
planner::TuningTable& tuning() {
  static planner::TuningTable& table = *new planner::TuningTable;
  return table;
}

namespace {

// The plan for a problem, by its tuned choice if there is one; throws if no kernel can run it.
template <class P>
planner::Plan chosen_plan(P const& problem, Device const& device, planner::WorkspaceLimit limit, char const* what) {
  if (!tuning().is_empty() && problem.elements())
    if (auto const choice = tuning().find({problem, device, !limit.is_none()})) {
      // It was measured with any workspace or with none: a part of one is another question.
      planner::Plan tuned = planner::plan_of(*choice, problem, device, !limit.is_none());
      if (tuned.candidate >= 0 && tuned.workspace_bytes <= limit.bytes) return tuned;
    }
  planner::Plan plan = planner::make_plan(problem, device, limit);
  if (plan.candidate < 0 && problem.elements())
    throw Error(std::string("no kernel can run this ") + what + ":\n" + planner::why(plan, problem, device, limit),
                ErrorCode::unsupported);
  return plan;
}

// The plan that make() returns, with its launches, in the cache; null if it chose no candidate although there are
// elements.
template <class P, class Make>
CachedPlan cached(P const& problem, Device const& device, planner::PlanKey const& key, Make const& make) {
  if (auto plan = cache().find(key)) return plan;
  std::uint64_t const generation = cache().generation();
  planner::Plan made = make();
  if (made.candidate < 0 && problem.elements()) return {};
  if (key || planner::is_list(made)) planner::make_launches(made, device);  // without a key each run would make them
  auto plan = std::make_shared<planner::Plan const>(std::move(made));
  cache().keep(key, plan, generation);
  return plan;
}

}  // namespace

planner::Plan plan_or_throw(Copy const& copy, Device const& device) { return chosen_plan(copy, device, false, "copy"); }
planner::Plan plan_or_throw(Gemm const& gemm, Device const& device, planner::WorkspaceLimit limit) {
  return chosen_plan(gemm, device, limit, "gemm");
}
CachedPlan cached_plan(Copy const& copy, Device const& device) {
  return cached(copy, device, {copy, device}, [&] { return plan_or_throw(copy, device); });
}
// The plan that may need any workspace serves all calls whose workspace suffices for it.
CachedPlan cached_plan(Gemm const& gemm, Device const& device, planner::WorkspaceLimit limit) {
  auto const plan_within = [&](planner::WorkspaceLimit most) {
    return cached(gemm, device, {gemm, device, most}, [&] { return plan_or_throw(gemm, device, most); });
  };
  if (!limit.is_none())
    if (CachedPlan plan = plan_within(true); plan->workspace_bytes <= limit.bytes) return plan;
  return plan_within(limit);
}

CachedPlan find_list_plan(Copy const& copy, Device const& device) {
  return cached(copy, device, {copy, device}, [&] { return planner::make_plan(copy, device, false); });
}

void check_copy(void* dst, void const* src, Device const& device, cudaStream_t stream) {
  check_stream(stream, device);
  check_accessible(src, "source", device, stream);
  check_accessible(dst, "destination", device, stream);
}
void run_copy(planner::Plan const& plan, void* dst, void const* src, Device const& device, cudaStream_t stream) {
  check_copy(dst, src, device, stream);
  planner::run(plan, device, Operands{{dst, only_read(src), nullptr}, nullptr}, stream);
}

GemmPointers pointers_of(Gemm const& gemm, ConstTensor const& A, ConstTensor const& B, ConstTensor const& D,
                         GemmOptions const& options) {
  return {A.data, B.data, const_cast<void*>(D.data), gemm.C.base ? options.C->data : nullptr, gemm.packed_operand()};
}
BatchedGemm make_call(ConstTensor const& A, ConstTensor const& B, Tensor const& D, Epilogue const& epilogue,
                      GemmOptions const& options) {
  BatchedGemm batched = make_batched_gemm(A, B, D, epilogue, options.compute, c_of(options));
  if (options.packed_B) keep_packed_b(batched, *options.packed_B, B);
  return batched;
}
void check_gemm(std::size_t workspace_bytes, Gemm const& gemm, GemmPointers const& p, void* workspace,
                Device const& device, cudaStream_t stream) {
  check_stream(stream, device);
  if (gemm.K()) {
    check_accessible(p.A, "A", device, stream);
    check_accessible(p.B, "B", device, stream);
  }
  check_accessible(p.D, "D", device, stream);
  if (gemm.C.base) check_accessible(p.C, "C", device, stream);
  if (p.packed) check_accessible(p.packed, "packed B", device, stream);
  if (p.group_ends) check_accessible(p.group_ends, "the ends of the groups", device, stream);
  if (workspace_bytes) check_accessible(workspace, "workspace", device, stream);
}

FurtherPlans further_plans(BatchedGemm const& batched, Device const& device, planner::WorkspaceLimit limit) {
  bool all_agree = true;
  for (BatchedGemm::Mode const& mode : batched.outer)
    for (std::int64_t stride : mode.stride) all_agree &= stride % model::kPlanAlignment == 0;
  FurtherPlans plans;
  if (all_agree) return plans;
  bool is_first = true;
  batched.for_each([&](BatchedGemm::Bytes const& offset) {
    if (!is_first) plans.push_back(cached_plan(batched.at(offset), device, limit));
    is_first = false;
  });
  return plans;
}
std::size_t workspace_bytes(planner::Plan const& first, FurtherPlans const& further) {
  std::size_t most = first.workspace_bytes;
  for (auto const& plan : further) most = std::max(most, plan->workspace_bytes);
  return most;
}
void run_gemm(planner::Plan const& first, FurtherPlans const& further, BatchedGemm const& batched,
              GemmPointers const& p, void* workspace, Device const& device, cudaStream_t stream) {
  check_gemm(workspace_bytes(first, further), batched.gemm, p, workspace, device, stream);
  auto const at = [](void const* p, std::int64_t bytes) -> void* {
    return p ? static_cast<char*>(only_read(p)) + bytes : nullptr;
  };
  std::size_t index = 0;
  batched.for_each([&](BatchedGemm::Bytes const& offset) {
    planner::Plan const& plan = index == 0 || further.empty() ? first : *further[index - 1];
    Operands const operands{{at(p.A, offset[0]), at(p.B, offset[1]), at(p.D, offset[2]), at(p.C, offset[3]),
                             only_read(p.packed), only_read(p.group_ends)},
                            workspace};
    planner::run(plan, device, operands, stream);
    ++index;
  });
}

void check_size(std::size_t given, std::size_t needed) {
  if (given < needed)
    throw Error("the workspace has " + std::to_string(given) + " bytes, the plan needs " + std::to_string(needed),
                ErrorCode::workspace);
}

}  // namespace inlay
