// What public functions share: their plans, from the cache or made, and checks before anything is launched.
#pragma once
#include <inlay/gemm.h>
#include <inlay/planner/plan_cache.h>
#include <inlay/planner/tuning_table.h>
#include <inlay/problem/batched_gemm.h>
#include <inlay/problem/copy.h>

#include <memory>
#include <vector>

namespace inlay {

// Never destroyed: another thread or a destructor of the program's may still copy while the program ends.
planner::PlanCache& cache();
planner::TuningTable& tuning();

// The plan for a problem, by its tuned choice if there is one; throws Error if no kernel can run it.
planner::Plan plan_or_throw(problem::Copy const& copy, model::Device const& device);
planner::Plan plan_or_throw(problem::Gemm const& gemm, model::Device const& device, planner::WorkspaceLimit limit);

// The same plan with its launches, from the cache.
using CachedPlan = std::shared_ptr<planner::Plan const>;
CachedPlan cached_plan(problem::Copy const& copy, model::Device const& device);
CachedPlan cached_plan(problem::Gemm const& gemm, model::Device const& device, planner::WorkspaceLimit limit);
// The plan for a list of copies; null if no kernel takes it.
CachedPlan find_list_plan(problem::Copy const& copy, model::Device const& device);

// Kernels do not write to these operands.
inline void* only_read(void const* p) { return const_cast<void*>(p); }

// Each check_ function throws Error if the device cannot use an address or the stream; each run_ function checks, then
// launches.

// ---- copies

void check_copy(void* dst, void const* src, model::Device const& device, cudaStream_t stream);
void run_copy(planner::Plan const& plan, void* dst, void const* src, model::Device const& device, cudaStream_t stream);

// ---- GEMMs

// The addresses of a GEMM's operands.
struct GemmPointers {
  void const *A, *B;
  void* D;
  void const* C;       // null: D, or not read
  void const* packed;  // the packed B; null: there is none
  void const* group_ends = nullptr;
};
inline ConstTensor const* c_of(GemmOptions const& options) { return options.C ? &*options.C : nullptr; }
// What a call may use: the workspace of its options.
inline planner::WorkspaceLimit limit_of(GemmOptions const& options) {
  return planner::WorkspaceLimit(options.workspace ? options.workspace_bytes : 0);
}
GemmPointers pointers_of(problem::Gemm const& gemm, ConstTensor const& A, ConstTensor const& B, ConstTensor const& D,
                         GemmOptions const& options);
// The GEMM of a call.
problem::BatchedGemm make_call(ConstTensor const& A, ConstTensor const& B, Tensor const& D, Epilogue const& epilogue,
                               GemmOptions const& options);
void check_gemm(std::size_t workspace_bytes, problem::Gemm const& gemm, GemmPointers const& p, void* workspace,
                model::Device const& device, cudaStream_t stream);
// Throws Error if the workspace has fewer bytes than the plan needs.
void check_size(std::size_t given, std::size_t needed);

// The plans of the outer indices behind the first, in their order. Empty: the first one's plan is for all, because
// their addresses agree modulo kPlanAlignment.
using FurtherPlans = std::vector<CachedPlan>;
FurtherPlans further_plans(problem::BatchedGemm const& batched, model::Device const& device,
                           planner::WorkspaceLimit limit);
std::size_t workspace_bytes(planner::Plan const& first, FurtherPlans const& further);
void run_gemm(planner::Plan const& first, FurtherPlans const& further, problem::BatchedGemm const& batched,
              GemmPointers const& p, void* workspace, model::Device const& device, cudaStream_t stream);

}  // namespace inlay
