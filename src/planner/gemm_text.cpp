// The lines of why() for a GEMM.
#include <fmt/format.h>
#include <inlay/planner/gemm_packing.h>

#include <utility>

namespace inlay::planner {
namespace {

std::string operand_text(char const* name, Operand const& o, char const* rows, char const* cols) {
  std::string const where = o.misalignment_bytes()
                                ? fmt::format("{} bytes past a multiple of 16", o.misalignment_bytes())
                                : "a multiple of 16 bytes";
  std::string s =
      !along_mn(o) && !along_k(o)
          ? fmt::format("  {}: strides of {} along {} and {} along {}", name, o.row_stride, rows, o.col_stride, cols)
          : fmt::format("  {}: contiguous along {}, rows {} elements apart", name, along_mn(o) ? rows : cols, pitch(o));
  if (o.matrices > 1) s += fmt::format(", matrices {}", o.batch_stride);
  return s + fmt::format(", begins at {}\n", where);
}
char const* transpose_letter(Operand const& o, char const* mn, char const* k) {
  return along_mn(o) ? mn : along_k(o) ? k : "-";
}

char const* sums_text(Compute compute) {
  if (compute == Compute::fp32_blocked) return "blocked summation";
  if (compute == Compute::split_safe) return "bf16 slices where they pay";
  if (compute == Compute::split_fast)
    return "f16 slices where they pay and the GPU finds that they lose nothing, else bf16 slices";
  return "one sum";
}

}  // namespace

std::string Planner<Gemm>::problem_text(Gemm const& g, Device const& device) {
  if (g.elements() == 0) return "gemm with an empty D: nothing is launched\n";
  std::string s =
      g.exchanged ? "D is column-major: what follows is its transpose, for which A and B change places\n" : "";
  s += fmt::format("gemm of M {} x N {} x K {}{}{}, {}{}, alpha {}, beta {}, {} on {}\n", g.M(), g.N(), g.K(),
                   g.L() > 1  ? fmt::format(", batch of {}", g.L())
                   : g.groups ? fmt::format(", {} groups of rows", g.groups)
                              : "",
                   g.A.type == f32 ? "" : fmt::format(", {}{}", name_of(g.A.type), g.D.type == f32 ? " to f32" : ""),
                   transpose_letter(g.A, "t", "n"), transpose_letter(g.B, "n", "t"), g.epilogue.alpha, g.epilogue.beta,
                   sums_text(g.compute), device.name);
  s += g.K() ? operand_text("A", g.A, "m", "k") + operand_text("B", g.B, "n", "k") : "  A and B are not read\n";
  Operand const d = transposed(g.D);  // operand_text expects the contiguous mode of D, n, as rows
  s += along_mn(d) ? operand_text("D", d, "n", "m")
                   : fmt::format("  D: strides of {} along m and {} along n\n", g.D.row_stride, g.D.col_stride);
  if (g.C.base) s += fmt::format("  C: strides of {} along m and {} along n\n", g.C.row_stride, g.C.col_stride);
  if (g.packed_operand())
    s += fmt::format("  {} was packed before\n", g.exchanged ? "A, which is the caller's B," : "B");
  if (g.epilogue.activation != Activation::none) s += fmt::format("  activation: {}\n", name_of(g.epilogue.activation));
  return s;
}

std::string Planner<Gemm>::choice_text(Plan const& plan, Candidate<Gemm> const& candidate, Gemm const& g, Device const&,
                                       WorkspaceLimit limit) {
  std::string s;
  int copies = 0;
  auto const packed = [&](char const* name, Reason const& misplaced) {
    if (!misplaced) return;
    // Slices of a long K may need no packing where all of it would.
    if (auto const* copy = plan.find<Copy>(copies++))
      s += fmt::format("  {} is packed by {}: {}\n", name, copy->kernel->name, misplaced.sentence());
  };
  packed("A", misplaced_a(g, candidate)), packed("B", misplaced_b(g, candidate));
  if (auto const* sum = plan.find<Reduction>())
    s += sum->problem.slices
             ? fmt::format("  K is split into {} slices, which {} adds\n", sum->problem.slices, sum->kernel->name)
             : fmt::format("  {} completes the epilogue in a second launch\n", sum->kernel->name);
  if (candidate.transposes) s += "  the transpose of D is computed: A and B change places\n";
  if (plan.seconds > 0) s += fmt::format("  predicted: {:.2f} us\n", plan.seconds * 1e6);
  return s + fmt::format("  workspace: {} bytes{}\n", plan.workspace_bytes,
                         limit.is_none()           ? " (none was offered)"
                         : limit.bytes == SIZE_MAX ? ""
                                                   : fmt::format(" ({} were offered)", limit.bytes));
}

std::string Planner<Gemm>::candidate_text(Plan const& plan, Candidate<Gemm> const&, Gemm const&, Device const&) {
  std::string bytes = fmt::format("{} bytes of workspace", plan.workspace_bytes);
  for (int i = 0; i < plan.num_launches; ++i)
    if (auto const* launch = std::get_if<LaunchOf<Gemm>>(&plan.launches[std::size_t(i)]);
        launch && launch->config.columns)
      bytes += fmt::format(", tiles of {} columns", launch->config.columns);
  return plan.seconds > 0 ? fmt::format("predicted {:.2f} us, {}", plan.seconds * 1e6, bytes) : bytes;
}

}  // namespace inlay::planner
