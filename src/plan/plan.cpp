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

// Calls f(variant, problem, workspace) for each step of each piece, in the order of their launches.
template <class F>
void over_steps(Plan const& plan, Operands operands, F const& f) {
  for (std::int64_t piece = 0; piece < plan.pieces; ++piece) {
    for (int i = 0; i < plan.steps; ++i)
      std::visit([&](auto const& s) { f(*s.variant, bound(s, operands), operands.at(s.own)); },
                 plan.step[std::size_t(i)]);
    for (std::size_t k = 0; k < 3; ++k)
      if (plan.apart[k]) operands.operand[k] = static_cast<char*>(operands.operand[k]) + plan.apart[k];
  }
  if (plan.rest) over_steps(*plan.rest, operands, f);
}

// Else a single kernel answers, which is refused before it is launched or not at all.
bool launches_several(Plan const& plan) {
  return plan.steps > 1 || plan.pieces > 1 || plan.rest || plan.workspace_bytes > 0;
}

}  // namespace

void run(Plan const& plan, Device const& device, Operands const& operands, cudaStream_t stream) {
  if (launches_several(plan))
    over_steps(plan, operands, [&](auto const& variant, auto const& problem, void* workspace) {
      if (variant.prepare) variant.prepare(problem, device, workspace);
    });
  over_steps(plan, operands, [&](auto const& variant, auto const& problem, void* workspace) {
    variant.run(problem, device, workspace, stream);
  });
}

}  // namespace inlay::planning
