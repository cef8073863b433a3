// Public functions: problem -> plan -> run.
#include <inlay/copy.h>
#include <inlay/gemm.h>

#include <string>
#include <utility>

#include "plan/gemm_plan.h"
#include "plan/plan.h"
#include "problem/footprint.h"

namespace inlay {
namespace {

void check_device(void const* p, char const* role, Device const& device) {
  cudaPointerAttributes a{};
  check(cudaPointerGetAttributes(&a, p));
  auto const who = [&] { return std::string("the ") + role + " pointer"; };
  if (a.type == cudaMemoryTypeUnregistered) throw Error(who() + " is host memory that CUDA does not know");
  if (a.type == cudaMemoryTypeDevice && a.device != device.id)
    throw Error(who() + " belongs to device " + std::to_string(a.device) + ", the current device is " +
                std::to_string(device.id));
}

MovePlan plan_transpose(Tensor const& dst, Tensor const& src, Device const*& device) {
  if (src.rank != 2 && src.rank != 3)
    throw Error("transpose takes views of rank 2 or 3, the source has rank " + std::to_string(src.rank));
  Move const move = make_move(dst, src.transposed());  // bad input is told before the device is asked
  device = &current_device();
  MovePlan const plan = plan_move(move, *device);
  if (!plan.chosen) throw Error("no variant can run this transpose:\n" + plan.why(*device));
  return plan;
}

}  // namespace

void transpose(Tensor const& dst, Tensor const& src, cudaStream_t stream) {
  Device const* device = nullptr;
  MovePlan const plan = plan_transpose(dst, src, device);
  if (plan.move.elements() == 0) return;
  check_device(src.data, "source", *device);
  check_device(dst.data, "destination", *device);
  plan.chosen->run(plan.move, *device, nullptr, stream);
}

std::string explain_transpose(Tensor const& dst, Tensor const& src) {
  Device const* device = nullptr;
  MovePlan const plan = plan_transpose(dst, src, device);
  return plan.why(*device);
}

namespace {

// What an operand and a workspace may not share, A and B only where they are read.
void check_workspace(GemmOptions const& options, Gemm const& gemm, Tensor const& A, Tensor const& B, Tensor const& C) {
  std::string const bytes = std::to_string(options.workspace_bytes);
  if (!options.workspace) {
    if (options.workspace_bytes) throw Error("the workspace of " + bytes + " bytes is a null pointer");
    return;
  }
  if (auto const past = reinterpret_cast<std::uint64_t>(options.workspace) % 256)
    throw Error("the workspace begins " + std::to_string(past) + " bytes past a multiple of 256");
  if (options.workspace_bytes == 0 || gemm.elements() == 0) return;
  Footprint const workspace(options.workspace, std::int64_t(options.workspace_bytes));
  for (auto [t, who] : {std::pair{&C, "C"}, std::pair{&A, "A"}, std::pair{&B, "B"}})
    if ((t == &C || gemm.K) && overlap(workspace, Footprint(*t)))
      throw Error("the workspace of " + bytes + " bytes overlaps " + who + " of shape " + shape(*t) + " in memory");
}

GemmPlan plan_gemm(float alpha, Tensor const& A, Tensor const& B, float beta, Tensor const& C,
                   GemmOptions const& options, Device const*& device) {
  Gemm const gemm = make_gemm(alpha, A, B, beta, C, options.accuracy);  // bad input is told before the device is asked
  check_workspace(options, gemm, A, B, C);
  device = &current_device();
  GemmPlan const plan = plan_gemm(gemm, *device, options.workspace != nullptr);
  if (!plan.chosen && gemm.elements()) throw Error("no variant can run this gemm:\n" + plan.why(*device));
  if (options.workspace && options.workspace_bytes < plan.workspace_bytes)
    throw Error("the workspace has " + std::to_string(options.workspace_bytes) + " bytes, the plan wants " +
                std::to_string(plan.workspace_bytes));
  return plan;
}

}  // namespace

void gemm(float alpha, Tensor const& A, Tensor const& B, float beta, Tensor const& C, cudaStream_t stream,
          GemmOptions const& options) {
  Device const* device = nullptr;
  GemmPlan const plan = plan_gemm(alpha, A, B, beta, C, options, device);
  if (plan.gemm.elements() == 0) return;
  if (plan.gemm.K) {
    check_device(A.data, "A", *device);
    check_device(B.data, "B", *device);
  }
  check_device(C.data, "C", *device);
  if (plan.workspace_bytes) check_device(options.workspace, "workspace", *device);
  run(plan, *device, options.workspace, stream);
}

std::size_t gemm_workspace(float alpha, Tensor const& A, Tensor const& B, float beta, Tensor const& C,
                           Accuracy accuracy) {
  Gemm const gemm = make_gemm(alpha, A, B, beta, C, accuracy);
  return plan_gemm(gemm, current_device(), true).workspace_bytes;
}

std::string explain_gemm(float alpha, Tensor const& A, Tensor const& B, float beta, Tensor const& C,
                         GemmOptions const& options) {
  Device const* device = nullptr;
  GemmPlan const plan = plan_gemm(alpha, A, B, beta, C, options, device);
  int const n = C.rank - 1, m = n - 1;
  bool const exchanged = C.extent[m] > 1 && C.extent[n] > 1 && C.stride[n] != 1 && C.stride[m] == 1;
  return (exchanged ? "C is column-major: what follows is its transpose, for which A and B change places\n" : "") +
         plan.why(*device);
}

}  // namespace inlay
