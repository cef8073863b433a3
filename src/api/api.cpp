// Public functions: problem -> plan -> run.
#include <inlay/copy.h>
#include <inlay/planner/copy_list.h>
#include <inlay/redistribute.h>

#include "calls.h"
#include "packed_b.h"

#include <string>
#include <vector>

namespace inlay {

using namespace problem;
using model::current_device;
using model::Device;

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
  std::vector<CachedPlan> plans;  // (group)
  Device const* device = nullptr;

  PlannedList(std::span<Tensor const> dst, std::span<ConstTensor const> src, cudaStream_t stream, bool together)
      : groups(planner::group_copies(dst, src)) {
    if (groups.empty()) return;
    device = &current_device();
    for (planner::CopyGroup const& group : groups)
      for (model::Pair const& pair : group.pairs) check_copy(pair.dst, pair.src, *device, stream);
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
  check_workspace(options.workspace, options.workspace_bytes, batched.gemm, A, B, D, c_of(options));
  check_packed_b(batched.gemm, D, options.workspace, options.workspace_bytes);
  Device const& device = current_device();
  auto const plan = cached_plan(batched.gemm, device, limit_of(options));
  FurtherPlans const further = further_plans(batched, device, limit_of(options));
  if (batched.gemm.elements())
    run_gemm(*plan, further, batched, pointers_of(batched.gemm, A, B, D, options), options.workspace, device, stream);
}

void gemm(ConstTensor const& A, ConstTensor const& B, Tensor const& D, Workspace& workspace, Epilogue const& epilogue,
          GemmOptions const& options) {
  detail::require(!options.workspace, "the options name a workspace beside the one that the call has");
  BatchedGemm const batched = make_call(A, B, D, epilogue, options);
  Device const& device = current_device();
  if (!batched.gemm.elements()) return;
  planner::WorkspaceLimit const limit(workspace.most_bytes());
  auto const plan = cached_plan(batched.gemm, device, limit);
  FurtherPlans const further = further_plans(batched, device, limit);
  workspace.reserve(workspace_bytes(*plan, further));
  check_workspace(workspace.data(), workspace.bytes(), batched.gemm, A, B, D, c_of(options));
  check_packed_b(batched.gemm, D, workspace.data(), workspace.bytes());
  run_gemm(*plan, further, batched, pointers_of(batched.gemm, A, B, D, options), workspace.data(), device,
           workspace.stream());
}

std::size_t gemm_workspace(ConstTensor const& A, ConstTensor const& B, Tensor const& D, Epilogue const& epilogue,
                           GemmOptions const& options) {
  BatchedGemm const batched = make_call(A, B, D, epilogue, options);
  Device const& device = current_device();
  if (!batched.gemm.elements()) return 0;
  return workspace_bytes(*cached_plan(batched.gemm, device, true), further_plans(batched, device, true));
}

void grouped_gemm(ConstTensor const& A, ConstTensor const& B, Tensor const& D, std::span<std::int32_t const> group_ends,
                  Epilogue const& epilogue, cudaStream_t stream) {
  BatchedGemm const all{make_grouped_gemm(A, B, D, group_ends, epilogue), {}};
  if (!all.gemm.elements()) return;
  Device const& device = current_device();
  GemmPointers const pointers{A.data, B.data, D.data, nullptr, nullptr, group_ends.data()};
  run_gemm(*cached_plan(all.gemm, device, false), {}, all, pointers, nullptr, device, stream);
}

}  // namespace inlay
