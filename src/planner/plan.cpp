#include <inlay/planner/plan.h>

namespace inlay::planner {

Copy at(LaunchOf<Copy> const& l, Operands const& o) { return l.problem.between(o.at(l.slots[1]), o.at(l.slots[0])); }
Gemm at(LaunchOf<Gemm> const& l, Operands const& o) {
  Gemm g = l.problem;
  g.A.base = o.at(l.slots[0]), g.B.base = o.at(l.slots[1]), g.D.base = o.at(l.slots[2]);
  return g;
}
Reduction at(LaunchOf<Reduction> const& l, Operands const& o) {
  Reduction r = l.problem;
  r.partial = static_cast<float const*>(o.at(l.slots[0])), r.D.base = o.at(l.slots[1]);
  return r;
}

void run(Plan const& plan, Device const& device, Operands const& operands, cudaStream_t stream) {
  // A plan with one launch needs no preparation: nothing has been launched before its kernel throws.
  if (plan.num_launches > 1 || !plan.is_whole() || plan.workspace_bytes > 0)
    for_each_launch(plan, operands, [&](auto const& kernel, auto const& problem, void* workspace) {
      if (kernel.prepare) kernel.prepare(problem, device, workspace);
    });
  for_each_launch(plan, operands, [&](auto const& kernel, auto const& problem, void* workspace) {
    kernel.run(problem, device, workspace, stream);
  });
}

}  // namespace inlay::planner
