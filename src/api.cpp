// Public functions: problem -> plan -> run.
#include <inlay/copy.h>
#include <inlay/gemm.h>
#include <inlay/planner/candidate.h>
#include <inlay/planner/copy_list.h>
#include <inlay/planner/plan_cache.h>
#include <inlay/planner/tuning_table.h>
#include <inlay/problem/batched_gemm.h>
#include <inlay/problem/footprint.h>
#include <inlay/problem/integers.h>
#include <inlay/redistribute.h>
#include <inlay/tuning.h>

#include "access.h"
#include "measured.h"
#include "packed_b.h"

#include <algorithm>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace inlay {

using namespace problem;
using planner::current_device;
using planner::Device;
using planner::Operands;

namespace {

// Never destroyed: another thread or a destructor of the program's may still copy while the program ends.
planner::PlanCache& cache() {
  static planner::PlanCache& plans = *new planner::PlanCache;
  return plans;
}
planner::TuningTable& tuning() {
  static planner::TuningTable& table = *new planner::TuningTable;
  return table;
}

// The plan for a problem, by its tuned choice if there is one; throws if no kernel can run it.
template <class P>
planner::Plan plan_or_throw(P const& problem, Device const& device, bool may_use_workspace, char const* what) {
  if (!tuning().is_empty() && problem.elements())
    if (auto const choice = tuning().find({problem, device, may_use_workspace}))
      if (planner::Plan tuned = planner::plan_of(*choice, problem, device, may_use_workspace); tuned.candidate >= 0)
        return tuned;
  planner::Plan plan = planner::make_plan(problem, device, may_use_workspace);
  if (plan.candidate < 0 && problem.elements())
    throw Error(
        std::string("no kernel can run this ") + what + ":\n" + planner::why(plan, problem, device, may_use_workspace),
        ErrorCode::unsupported);
  return plan;
}

// The plan that make() returns, with its launches, in the cache; null if it chose no candidate although there are elements.
template <class P, class Make>
std::shared_ptr<planner::Plan const> cached(P const& problem, Device const& device, planner::PlanKey const& key,
                                            Make const& make) {
  if (auto plan = cache().find(key)) return plan;
  std::uint64_t const generation = cache().generation();
  planner::Plan made = make();
  if (made.candidate < 0 && problem.elements()) return {};
  if (key || planner::is_list(made)) planner::make_launches(made, device);  // without a key each run would make them
  auto plan = std::make_shared<planner::Plan const>(std::move(made));
  cache().keep(key, plan, generation);
  return plan;
}
std::shared_ptr<planner::Plan const> cached_plan(Copy const& copy, Device const& device) {
  return cached(copy, device, {copy, device}, [&] { return plan_or_throw(copy, device, false, "copy"); });
}
std::shared_ptr<planner::Plan const> cached_plan(Gemm const& gemm, Device const& device, bool with_workspace) {
  return cached(gemm, device, {gemm, device, with_workspace},
                [&] { return plan_or_throw(gemm, device, with_workspace, "gemm"); });
}

// The plan for a list of copies; null if no kernel takes it.
std::shared_ptr<planner::Plan const> find_list_plan(Copy const& copy, Device const& device) {
  return cached(copy, device, {copy, device}, [&] { return planner::make_plan(copy, device, false); });
}

// Kernels do not write to these operands.
void* only_read(void const* p) { return const_cast<void*>(p); }

void check_copy(void* dst, void const* src, Device const& device, cudaStream_t stream) {
  check_stream(stream, device);
  check_accessible(src, "source", device, stream);
  check_accessible(dst, "destination", device, stream);
}
void run_copy(planner::Plan const& plan, void* dst, void const* src, Device const& device, cudaStream_t stream) {
  check_copy(dst, src, device, stream);
  planner::run(plan, device, Operands{{dst, only_read(src), nullptr}, nullptr}, stream);
}

// The addresses of a GEMM's operands.
struct GemmPointers {
  void const *A, *B;
  void* D;
  void const* C;     // null: D, or not read
  void const* kept;  // the packed B; null: there is none
};
GemmPointers pointers_of(Gemm const& gemm, ConstTensor const& A, ConstTensor const& B, ConstTensor const& D,
                         GemmOptions const& options) {
  return {A.data, B.data, const_cast<void*>(D.data), gemm.C.base ? options.C->data : nullptr, gemm.kept()};
}
// The GEMM of a call.
BatchedGemm make_call(ConstTensor const& A, ConstTensor const& B, Tensor const& D, Epilogue const& epilogue,
                      GemmOptions const& options) {
  BatchedGemm batched = make_batched_gemm(A, B, D, epilogue, options.compute, options.C);
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
  if (p.kept) check_accessible(p.kept, "packed B", device, stream);
  if (workspace_bytes) check_accessible(workspace, "workspace", device, stream);
}

// The plans of the outer indices behind the first, in their order. Empty: the first one's plan is for all, because their addresses
// agree modulo kPlanAlignment.
using FurtherPlans = std::vector<std::shared_ptr<planner::Plan const>>;
FurtherPlans further_plans(BatchedGemm const& batched, Device const& device, bool with_workspace) {
  bool all_agree = true;
  for (BatchedGemm::Mode const& mode : batched.outer)
    for (std::int64_t stride : mode.stride) all_agree &= stride % planner::kPlanAlignment == 0;
  FurtherPlans plans;
  if (all_agree) return plans;
  bool is_first = true;
  batched.for_each([&](BatchedGemm::Bytes const& offset) {
    if (!is_first) plans.push_back(cached_plan(batched.at(offset), device, with_workspace));
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
    Operands const operands{
        {at(p.A, offset[0]), at(p.B, offset[1]), at(p.D, offset[2]), at(p.C, offset[3]), only_read(p.kept)}, workspace};
    planner::run(plan, device, operands, stream);
    ++index;
  });
}

void check_size(std::size_t given, std::size_t needed) {
  if (given < needed)
    throw Error("the workspace has " + std::to_string(given) + " bytes, the plan needs " + std::to_string(needed),
                ErrorCode::workspace);
}

}  // namespace

void copy(Tensor const& dst, ConstTensor const& src, cudaStream_t stream) {
  Copy const copy = make_copy(dst, src);  // rejects bad input before the device is queried
  if (copy.elements() == 0) return;
  Device const& device = current_device();
  run_copy(*cached_plan(copy, device), dst.data, src.data, device, stream);
}
namespace {

// A list of copies with a plan for each group.
struct PlannedList {
  std::vector<planner::CopyGroup> groups;
  std::vector<std::shared_ptr<planner::Plan const>> plans;  // (group)
  Device const* device = nullptr;

  PlannedList(std::span<Tensor const> dst, std::span<ConstTensor const> src, cudaStream_t stream, bool together)
      : groups(planner::group_copies(dst, src)) {
    if (groups.empty()) return;
    device = &current_device();
    for (planner::CopyGroup const& group : groups)
      for (planner::Pair const& pair : group.pairs) check_copy(pair.dst, pair.src, *device, stream);
    auto const plan_for = [this](Copy const& copy) {
      return copy.pairs > 1 ? find_list_plan(copy, *device) : cached_plan(copy, *device);
    };
    plans = planner::plan_groups(groups, plan_for, together);
  }
  void run(cudaStream_t stream) const {
    for (std::size_t i = 0; i < groups.size(); ++i)
      if (!groups[i].pairs.empty()) planner::run_list(*plans[i], *device, groups[i].pairs, stream);
  }
};

}  // namespace

void copy(std::span<Tensor const> dst, std::span<ConstTensor const> src, cudaStream_t stream) {
  PlannedList(dst, src, stream, false).run(stream);
}
std::function<void()> detail::planned_pushes(std::span<Tensor const> dst, std::span<ConstTensor const> src,
                                             cudaStream_t stream) {
  return [list = PlannedList(dst, src, stream, true), stream] { list.run(stream); };
}
void transpose(Tensor const& dst, ConstTensor const& src, cudaStream_t stream) {
  if (src.rank < 2)
    throw Error("transpose takes views of rank 2 and more, the source has rank " + std::to_string(src.rank));
  copy(dst, src.transposed(), stream);
}
void permute(Tensor const& dst, ConstTensor const& src, std::span<int const> axes, cudaStream_t stream) {
  copy(dst, src.permuted(axes), stream);
}

void gemm(ConstTensor const& A, ConstTensor const& B, Tensor const& D, Epilogue const& epilogue, cudaStream_t stream,
          GemmOptions const& options) {
  BatchedGemm const batched = make_call(A, B, D, epilogue, options);
  check_workspace(options.workspace, options.workspace_bytes, batched.gemm, A, B, D, options.C);
  check_packed_b(batched.gemm, D, options.workspace, options.workspace_bytes);
  Device const& device = current_device();
  auto const plan = cached_plan(batched.gemm, device, options.workspace != nullptr);
  FurtherPlans const further = further_plans(batched, device, options.workspace != nullptr);
  if (options.workspace) check_size(options.workspace_bytes, workspace_bytes(*plan, further));
  if (batched.gemm.elements())
    run_gemm(*plan, further, batched, pointers_of(batched.gemm, A, B, D, options), options.workspace, device, stream);
}

std::size_t gemm_workspace(ConstTensor const& A, ConstTensor const& B, Tensor const& D, Epilogue const& epilogue,
                           GemmOptions const& options) {
  BatchedGemm const batched = make_call(A, B, D, epilogue, options);
  Device const& device = current_device();
  FurtherPlans const further = further_plans(batched, device, true);
  if (auto const plan = cache().find({batched.gemm, device, true})) return workspace_bytes(*plan, further);
  if (!batched.gemm.elements()) return 0;
  return workspace_bytes(plan_or_throw(batched.gemm, device, true, "gemm"), further);
}

// ---- plans

struct Plan::Impl {
  Device const& device;
  std::variant<Copy, BatchedGemm> problem;
  ConstTensor operand[4];  // the views that the plan was made with: destination, source; or A, B, D and C, repeated
  bool with_workspace = false;
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
planner::Plan remembered(Timing timing, P const& problem, Device const& device, bool with_workspace) {
  if (timing.plan.candidate < 0) return {};
  tuning().add({problem, device, with_workspace}, planner::choice_of<P>(timing.plan, timing.us));
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
  check_workspace(options.workspace, options.workspace_bytes, gemm, A, B, D, options.C);
  check_packed_b(gemm, D, options.workspace, options.workspace_bytes);
  bool const with_workspace = options.workspace != nullptr;
  std::vector<planner::Plan> plans = planner::plans_to_time(gemm, device, with_workspace);
  if (!plans.empty() && with_workspace)
    check_size(options.workspace_bytes,
               plans[0].workspace_bytes);  // less would tune this problem worse for later calls
  std::erase_if(plans, [&](planner::Plan const& p) { return p.workspace_bytes > options.workspace_bytes; });
  GemmPointers const at = pointers_of(gemm, A, B, D, options);
  for (planner::Plan const& p : plans) check_gemm(p.workspace_bytes, gemm, at, options.workspace, device, stream);
  Operands const operands{{only_read(at.A), only_read(at.B), at.D, only_read(at.C), only_read(at.kept)},
                          options.workspace};
  return remembered(
      fastest(std::move(plans), planner::candidates<Gemm>().size(), device, milliseconds, operands, stream), gemm,
      device, with_workspace);
}

}  // namespace

Plan plan(Tensor const& dst, ConstTensor const& src, Choose choose, cudaStream_t stream, double milliseconds) {
  Copy const copy = make_copy(dst, src);
  Device const& device = current_device();
  planner::Plan plan;
  if (choose == Choose::measured && copy.elements()) plan = measured_plan(copy, dst, src, device, stream, milliseconds);
  if (plan.candidate < 0) plan = plan_or_throw(copy, device, false, "copy");
  planner::make_launches(plan, device);
  return detail::PlanMaker::make({device, copy, {dst, src, {}}, false, std::move(plan), {}});
}
Plan plan(ConstTensor const& A, ConstTensor const& B, Tensor const& D, Epilogue const& epilogue,
          GemmOptions const& options, Choose choose, cudaStream_t stream, double milliseconds) {
  BatchedGemm const batched = make_call(A, B, D, epilogue, options);
  Gemm const& gemm = batched.gemm;
  Device const& device = current_device();
  bool with_workspace = options.may_use_workspace;
  planner::Plan plan;
  if (choose == Choose::measured && gemm.elements()) {
    with_workspace = options.workspace != nullptr;
    plan = measured_plan(gemm, A, B, D, options, device, stream, milliseconds);
  }
  if (plan.candidate < 0) plan = plan_or_throw(gemm, device, with_workspace, "gemm");
  planner::make_launches(plan, device);
  FurtherPlans further = further_plans(batched, device, with_workspace);
  ConstTensor const C = gemm.C.base ? broadcast_to(*options.C, D) : ConstTensor{};
  return detail::PlanMaker::make({device, batched, {A, B, D, C}, with_workspace, std::move(plan), std::move(further)});
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
  auto const of = [&](auto const& p) { return planner::why(impl_->plan, p, impl_->device, impl_->with_workspace); };
  if (auto const* copy = std::get_if<Copy>(&impl_->problem)) return of(*copy);
  auto const& batched = std::get<BatchedGemm>(impl_->problem);
  std::string const times = std::to_string(batched.outer_indices());
  return (batched.outer.empty() ? ""
                                : "batch modes that do not merge to one: " + times + " GEMMs, one after the other\n") +
         of(batched.gemm);
}

namespace {

// The view `t` of a plan at another address; throws if the addresses disagree modulo 16. `agrees`: whether all do modulo kPlanAlignment.
ConstTensor at_address(ConstTensor t, void const* to, char const* who, bool& agrees) {
  constexpr std::int64_t kLeast = 16;
  if (auto const past = misalignment(to, kLeast), planned = misalignment(t.data, kLeast); past != planned)
    throw Error(std::string(who) + " begins " + std::to_string(past) +
                " bytes past a multiple of 16, that of the plan " + std::to_string(planned));
  agrees &= misalignment(to, planner::kPlanAlignment) == misalignment(t.data, planner::kPlanAlignment);
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
    if (gemm->kept() && B != impl_->operand[1].data)
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
    run_gemm(first, further, *batched, {A, B, D, C, gemm->kept()}, workspace, impl_->device, stream);
  };
  if (agrees) return run(impl_->plan, impl_->further);
  BatchedGemm there = *batched;
  there.gemm.A.base = only_read(gemm->exchanged ? B : A), there.gemm.B.base = only_read(gemm->exchanged ? A : B),
  there.gemm.D.base = D, there.gemm.C.base = only_read(C);
  run(*cached_plan(there.gemm, impl_->device, impl_->with_workspace),
      further_plans(there, impl_->device, impl_->with_workspace));
}

}  // namespace inlay
