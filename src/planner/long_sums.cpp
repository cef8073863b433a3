#include <inlay/kernels/kernel_list.h>
#include <inlay/model/half_slices.h>
#include <inlay/planner/gemm_packing.h>
#include <inlay/planner/long_sums.h>

#include <memory>

namespace inlay::planner {
namespace {

// D in fp32, rows one behind the other, at the start of the workspace.
Operand sums_like(Operand const& D) {
  Operand sums = D;
  sums.base = symbolic(kWorkspaceRegion, nullptr), sums.type = problem::f32;
  sums.row_stride = D.cols, sums.col_stride = 1, sums.batch_stride = D.matrices > 1 ? D.rows * D.cols : 0;
  return sums;
}

// The launches write to the workspace instead of D, and what they keep there lies behind `bytes`.
void move_D(Plan& plan, std::size_t bytes) {
  auto const move = [&](OperandSlot& slot) {
    if (slot.in == OperandSlot::In::workspace) slot.offset += std::int64_t(bytes);
    if (slot.in == OperandSlot::In::operand && slot.operand == 2) slot = in_workspace(slot.offset);
  };
  for (int i = 0; i < plan.num_launches; ++i)
    std::visit(
        [&](auto& launch) {
          for (OperandSlot& slot : launch.slots) move(slot);
          move(launch.workspace);
        },
        plan.launches[std::size_t(i)]);
  plan.workspace_bytes += bytes;
}

// The plan in parts of `part` indices.
Plan plan_parts(Gemm const& gemm, std::int64_t part, Device const& device, WorkspaceLimit limit,
                std::span<Candidate<Gemm> const> all) {
  std::size_t const own = bytes_of_long_sums(gemm);
  Gemm g = gemm;
  if (own) g.D = sums_like(gemm.D), g.epilogue = {}, g.C = {};
  std::int64_t const parts = (g.K() + part - 1) / part, last_K = g.K() - (parts - 1) * part;

  // Parts are planned from the last one on, since each plan holds those that follow.
  std::shared_ptr<Plan const> rest;
  if (own) {
    Gemm sums = g;
    sums.slices = 1;
    Reduction const r = problem::add_slices(gemm, sums);
    auto finish = std::make_shared<Plan>();
    OperandSlot const slot_c = r.C.base ? OperandSlot{OperandSlot::In::operand, 3, 0} : OperandSlot{};
    finish->add(LaunchOf<Reduction>{
        &kernels::sum_slices::kernel, r, {in_workspace(0), {OperandSlot::In::operand, 2, 0}, slot_c}});
    rest = finish;
  }
  Plan plan;
  double seconds = 0;
  auto const add = [&](std::int64_t K, std::int64_t count, bool is_first, bool is_last) {
    if (count == 0) return true;
    Gemm one = g.with_K(K);
    if (!is_first) one.epilogue.beta = 1, one.C = {};
    if (!is_last) one.epilogue.activation = Activation::none;
    std::size_t const left = limit.bytes == SIZE_MAX ? SIZE_MAX : limit.bytes - own;
    plan = make_plan(one, device, WorkspaceLimit(left), all);
    if (plan.candidate < 0 || !plan.is_whole()) return false;
    if (own) move_D(plan, own);
    plan.chunks = count, plan.last_chunk = rest;
    plan.chunk_bytes[std::size_t(slot_of(g, 0).operand)] = K * g.A.col_stride * bytes_of(g.A.type);
    plan.chunk_bytes[std::size_t(slot_of(g, 1).operand)] = K * g.B.col_stride * bytes_of(g.B.type);
    if (rest) plan.workspace_bytes = std::max(plan.workspace_bytes, rest->workspace_bytes);
    seconds += plan.seconds * double(count);
    rest = std::make_shared<Plan const>(plan);
    return true;
  };
  if (!add(last_K, 1, false, true) || !add(part, parts - 2, false, false) || !add(part, 1, true, false)) return {};
  plan.seconds = seconds;
  return plan;
}

}  // namespace

bool may_be_long_sum(Gemm const& g) { return is_half(g.A.type) && g.K() > HalfSlices::kMostSum; }

std::size_t bytes_of_long_sums(Gemm const& g) {
  return g.D.type == problem::f32 ? 0 : (std::size_t(g.elements()) * sizeof(float) + 255) / 256 * 256;
}

Plan plan_long_sums(Gemm const& gemm, Device const& device, WorkspaceLimit limit,
                    std::span<Candidate<Gemm> const> all) {
  if (bytes_of_long_sums(gemm) > limit.bytes) return {};
  std::int64_t const part = part_K(gemm.A.type);
  Plan plan;
  if (is_long_sum(gemm)) plan = plan_parts(gemm, part, device, limit, all);
  if (plan.candidate < 0 && may_be_long_sum(gemm)) plan = plan_parts(gemm, HalfSlices::kMostSum, device, limit, all);
  return plan;
}

}  // namespace inlay::planner
