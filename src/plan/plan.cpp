#include <inlay/plan/plan.h>

namespace inlay::planning {

Move at(StepOf<Move> const& s, Operands const& o) { return s.problem.between(o.at(s.at[1]), o.at(s.at[0])); }
Gemm at(StepOf<Gemm> const& s, Operands const& o) {
  Gemm g = s.problem;
  g.A.base = o.at(s.at[0]), g.B.base = o.at(s.at[1]), g.C.base = o.at(s.at[2]);
  return g;
}
Reduction at(StepOf<Reduction> const& s, Operands const& o) {
  Reduction r = s.problem;
  r.partial = static_cast<float const*>(o.at(s.at[0])), r.C.base = o.at(s.at[1]);
  return r;
}

namespace {

// Else a single kernel answers, which is refused before it is launched or not at all.
bool launches_several(Plan const& plan) { return plan.steps > 1 || !plan.is_whole() || plan.workspace_bytes > 0; }

}  // namespace

void run(Plan const& plan, Device const& device, Operands const& operands, cudaStream_t stream) {
  if (launches_several(plan))
    for_each_launch(plan, operands, [&](auto const& variant, auto const& problem, void* workspace) {
      if (variant.prepare) variant.prepare(problem, device, workspace);
    });
  for_each_launch(plan, operands, [&](auto const& variant, auto const& problem, void* workspace) {
    variant.run(problem, device, workspace, stream);
  });
}

}  // namespace inlay::planning
