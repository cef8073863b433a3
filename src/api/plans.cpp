// Plans of the public interface: made, measured, remembered, run again.
#include <inlay/copy.h>
#include <inlay/planner/candidate.h>
#include <inlay/problem/footprint.h>
#include <inlay/problem/integers.h>
#include <inlay/tuning.h>

#include "access.h"
#include "calls.h"
#include "measured.h"
#include "packed_b.h"

#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace inlay {

using namespace problem;
using model::current_device;
using model::Device;
using planner::Operands;

struct Plan::Impl {
  Device const& device;
  std::variant<Copy, BatchedGemm> problem;
  ConstTensor operand[4];  // the views that the plan was made with: destination, source; or A, B, D and C, repeated
  planner::WorkspaceLimit limit = false;
  planner::Plan plan;    // of a GEMM with outer batch modes: of their first index
  FurtherPlans further;  // of a GEMM: the plans of the other outer indices
};
struct detail::PlanMaker {
  static Plan make(Plan::Impl impl) { return Plan(std::make_shared<Plan::Impl const>(std::move(impl))); }
};

namespace {

void check_measurable(cudaStream_t stream) {
  if (is_capturing(stream))
    throw Error("a plan cannot be measured on a stream that is captured: measuring synchronises");
}
// Remembers what was measured. Plans that are cached were chosen without it.
template <class P>
planner::Plan remembered(Timing timing, P const& problem, Device const& device, planner::WorkspaceLimit limit) {
  if (timing.plan.candidate < 0) return {};
  tuning().add({problem, device, !limit.is_none()}, planner::choice_of<P>(timing.plan, timing.us));
  cache().clear();
  return std::move(timing.plan);
}
planner::Plan measured_plan(Copy const& copy, Tensor const& dst, ConstTensor const& src, Device const& device,
                            cudaStream_t stream, double milliseconds) {
  check_measurable(stream);
  check_copy(dst.data, src.data, device, stream);
  Operands const operands{{dst.data, only_read(src.data), nullptr}, nullptr};
  Timing timing = fastest(planner::plans_to_time(copy, device), planner::candidates<Copy>().size(), device,
                          milliseconds, operands, stream);
  if (timing.plan.candidate >= 0) {
    planner::run(planner::make_plan(copy, device, false), device, operands, stream);
    check_same_bytes(timing.plan, device, dst, src.data, stream);
  }
  return remembered(std::move(timing), copy, device, false);
}
planner::Plan measured_plan(Gemm const& gemm, ConstTensor const& A, ConstTensor const& B, Tensor const& D,
                            GemmOptions const& options, Device const& device, cudaStream_t stream,
                            double milliseconds) {
  check_measurable(stream);
  check_workspace(options.workspace, options.workspace_bytes, gemm, A, B, D, c_of(options));
  check_packed_b(gemm, D, options.workspace, options.workspace_bytes);
  bool const with_workspace = options.workspace != nullptr;
  std::vector<planner::Plan> plans = planner::plans_to_time(gemm, device, with_workspace);
  if (!plans.empty() && with_workspace)
    check_size(options.workspace_bytes,
               plans[0].workspace_bytes);  // less would tune this problem worse for later calls
  std::erase_if(plans, [&](planner::Plan const& p) { return p.workspace_bytes > options.workspace_bytes; });
  GemmPointers const at = pointers_of(gemm, A, B, D, options);
  for (planner::Plan const& p : plans) check_gemm(p.workspace_bytes, gemm, at, options.workspace, device, stream);
  Operands const operands{{only_read(at.A), only_read(at.B), at.D, only_read(at.C), only_read(at.packed)},
                          options.workspace};
  return remembered(
      fastest(std::move(plans), planner::candidates<Gemm>().size(), device, milliseconds, operands, stream), gemm,
      device, with_workspace);
}

}  // namespace

Plan plan(Tensor const& dst, ConstTensor const& src, PlanOptions const& how) {
  Copy const copy = make_copy(dst, src);
  Device const& device = current_device();
  planner::Plan plan;
  if (how.choose == Choose::measured && copy.elements())
    plan = measured_plan(copy, dst, src, device, how.stream, how.milliseconds);
  if (plan.candidate < 0) plan = plan_or_throw(copy, device);
  planner::make_launches(plan, device);
  return detail::PlanMaker::make({device, copy, {dst, src, {}}, false, std::move(plan), {}});
}
Plan plan(ConstTensor const& A, ConstTensor const& B, Tensor const& D, Epilogue const& epilogue,
          GemmOptions const& options, PlanOptions const& how) {
  BatchedGemm const batched = make_call(A, B, D, epilogue, options);
  Gemm const& gemm = batched.gemm;
  Device const& device = current_device();
  planner::WorkspaceLimit limit(how.most_workspace_bytes);
  planner::Plan plan;
  if (how.choose == Choose::measured && gemm.elements()) {
    limit = limit_of(options);
    plan = measured_plan(gemm, A, B, D, options, device, how.stream, how.milliseconds);
  }
  if (plan.candidate < 0) plan = plan_or_throw(gemm, device, limit);
  planner::make_launches(plan, device);
  FurtherPlans further = further_plans(batched, device, limit);
  ConstTensor const C = gemm.C.base ? broadcast_to(*options.C, D) : ConstTensor{};
  return detail::PlanMaker::make({device, batched, {A, B, D, C}, limit, std::move(plan), std::move(further)});
}

void save_tuning(std::string const& path) { tuning().save(path); }
std::size_t load_tuning(std::string const& path) {
  std::size_t const count = tuning().load(path);
  cache().clear();
  return count;
}
void forget_tuning() {
  tuning().clear();
  cache().clear();
}

std::size_t Plan::workspace_bytes() const { return inlay::workspace_bytes(impl_->plan, impl_->further); }
std::string Plan::why() const {
  auto const of = [&](auto const& p) { return planner::why(impl_->plan, p, impl_->device, impl_->limit); };
  if (auto const* copy = std::get_if<Copy>(&impl_->problem)) return of(*copy);
  auto const& batched = std::get<BatchedGemm>(impl_->problem);
  std::string const times = std::to_string(batched.outer_indices());
  return (batched.outer.empty() ? ""
                                : "batch modes that do not merge to one: " + times + " GEMMs, one after the other\n") +
         of(batched.gemm);
}

namespace {

// The view `t` of a plan at another address; throws if the addresses disagree modulo 16. `agrees`: whether all do
// modulo kPlanAlignment.
ConstTensor at_address(ConstTensor t, void const* to, char const* who, bool& agrees) {
  constexpr std::int64_t kLeast = 16;
  if (auto const past = misalignment(to, kLeast), planned = misalignment(t.data, kLeast); past != planned)
    throw Error(std::string(who) + " begins " + std::to_string(past) +
                " bytes past a multiple of 16, that of the plan " + std::to_string(planned));
  agrees &= misalignment(to, model::kPlanAlignment) == misalignment(t.data, model::kPlanAlignment);
  t.data = to;
  return t;
}
void check_current(Device const& device) {
  int id = 0;
  detail::check(cudaGetDevice(&id));
  if (id != device.id)
    throw Error("the plan is for device " + std::to_string(device.id) + ", the current device is " +
                std::to_string(id));
}

}  // namespace

void Plan::run(void* dst, void const* src, cudaStream_t stream) const {
  auto const* copy = std::get_if<Copy>(&impl_->problem);
  detail::require(copy, "this plan is for a GEMM: it runs with A, B and D");
  if (copy->elements() == 0) return;
  bool agrees = true;
  ConstTensor const to = at_address(impl_->operand[0], dst, "the destination", agrees),
                    from = at_address(impl_->operand[1], src, "the source", agrees);
  check_memory(to, "the destination");
  check_memory(from, "the source");
  if (overlap(Footprint(to), Footprint(from)))
    throw Error("the source and the destination of shape " + shape(to) + " overlap in memory");
  check_current(impl_->device);
  if (agrees) return run_copy(impl_->plan, dst, src, impl_->device, stream);
  auto const* const read = static_cast<char const*>(src);
  auto* const written = static_cast<char*>(dst);
  Copy const there = copy->between(read + copy->src_shift, written + copy->dst_shift);
  run_copy(*cached_plan(there, impl_->device), dst, src, impl_->device, stream);
}

void Plan::run(void const* A, void const* B, void* D, cudaStream_t stream, void* workspace, std::size_t workspace_size,
               void const* C) const {
  auto const* batched = std::get_if<BatchedGemm>(&impl_->problem);
  detail::require(batched, "this plan is for a copy: it runs with a destination and a source");
  Gemm const* const gemm = &batched->gemm;
  if (gemm->elements() == 0) return;
  bool agrees = true;
  ConstTensor a = impl_->operand[0], b = impl_->operand[1], d = at_address(impl_->operand[2], D, "D", agrees);
  check_memory(d, "D");
  if (gemm->K()) {
    a = at_address(a, A, "A", agrees), b = at_address(b, B, "B", agrees);
    if (gemm->packed_operand() && B != impl_->operand[1].data)
      throw Error("the plan has a packed B, and the run is for a B at another address than the one that was packed");
    for (auto [t, who] : {std::pair{&a, "A"}, std::pair{&b, "B"}}) {
      check_memory(*t, who);
      if (overlap(Footprint(d), Footprint(*t)))
        throw Error("D of shape " + shape(d) + " overlaps " + who + " of shape " + shape(*t) + " in memory");
    }
  }
  detail::require(gemm->C.base ? C != nullptr : C == nullptr,
                  gemm->C.base ? "the plan has a C of its own, and the run has none"
                               : "the run has a C, and the plan has none of its own");
  ConstTensor c = impl_->operand[3];
  if (C) {
    c = at_address(c, C, "C", agrees);
    check_memory(c, "C");
    if (overlap(Footprint(d), Footprint(c)))
      throw Error("D of shape " + shape(d) + " overlaps C, which is repeated to that shape, in memory");
  }
  check_workspace(workspace, workspace_size, *gemm, a, b, d, &c);
  check_packed_b(*gemm, d, workspace, workspace_size);
  check_current(impl_->device);
  auto const run = [&](planner::Plan const& first, FurtherPlans const& further) {
    check_size(workspace_size, inlay::workspace_bytes(first, further));
    run_gemm(first, further, *batched, {A, B, D, C, gemm->packed_operand()}, workspace, impl_->device, stream);
  };
  if (agrees) return run(impl_->plan, impl_->further);
  BatchedGemm there = *batched;
  there.gemm.A.base = only_read(gemm->exchanged ? B : A), there.gemm.B.base = only_read(gemm->exchanged ? A : B),
  there.gemm.D.base = D, there.gemm.C.base = only_read(C);
  planner::WorkspaceLimit const limit(workspace ? workspace_size : 0);
  run(*cached_plan(there.gemm, impl_->device, limit), further_plans(there, impl_->device, limit));
}

bool Plan::took_f16_slices(void const* workspace, std::int64_t matrix, cudaStream_t stream) const {
  auto const* batched = std::get_if<BatchedGemm>(&impl_->problem);
  planner::LaunchOf<Gemm> const* launch = nullptr;
  if (batched && batched->outer.empty() && impl_->plan.is_whole())
    for (int i = 0; auto const* l = impl_->plan.find<Gemm>(i); ++i)
      if (std::string_view(l->kernel->name) == "sgemm_split_fast") launch = l;
  if (!launch) return false;
  detail::require(workspace != nullptr, "the workspace is a null pointer");
  std::int64_t const matrices = batched->gemm.L();
  if (matrix < 0 || matrix >= matrices)
    throw Error("there is no matrix " + std::to_string(matrix) + " in a batch of " + std::to_string(matrices));
  unsigned refused = 0;
  auto const* const refusals = static_cast<char const*>(workspace) + launch->workspace.offset;
  detail::check(cudaMemcpyAsync(&refused, refusals + matrix * std::int64_t(sizeof refused), sizeof refused,
                                cudaMemcpyDeviceToHost, stream));
  detail::check(cudaStreamSynchronize(stream));
  return refused == 0;
}

}  // namespace inlay
