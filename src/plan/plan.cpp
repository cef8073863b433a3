#include <inlay/plan/plan.h>

namespace inlay::planning {
namespace {

// The problem of a step with the operands of a call.
Move bound(StepOf<Move> const& s, Operands const& o) { return s.problem.between(o.at(s.at[1]), o.at(s.at[0])); }
Gemm bound(StepOf<Gemm> const& s, Operands const& o) {
  Gemm g = s.problem;
  g.A.base = o.at(s.at[0]), g.B.base = o.at(s.at[1]), g.C.base = o.at(s.at[2]);
  return g;
}
Reduction bound(StepOf<Reduction> const& s, Operands const& o) {
  Reduction r = s.problem;
  r.partial = static_cast<float const*>(o.at(s.at[0])), r.C.base = o.at(s.at[1]);
  return r;
}

}  // namespace

void run(Plan const& plan, Device const& device, Operands const& operands, cudaStream_t stream) {
  for (int i = 0; i < plan.steps; ++i)
    std::visit([&](auto const& s) { s.variant->run(bound(s, operands), device, operands.at(s.own), stream); },
               plan.step[std::size_t(i)]);
}

}  // namespace inlay::planning
