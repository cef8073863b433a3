#include <inlay/planner/plan.h>

namespace inlay::planner {

Copy at(LaunchOf<Copy> const& l, Operands const& o) { return l.problem.between(o.at(l.slots[1]), o.at(l.slots[0])); }
Gemm at(LaunchOf<Gemm> const& l, Operands const& o) {
  Gemm g = l.problem;
  g.A.base = o.at(l.slots[0]), g.B.base = o.at(l.slots[1]), g.D.base = o.at(l.slots[2]);
  g.C.base = o.at(l.slots[3]);
  for (Operand* operand : {&g.A, &g.B})
    if (operand->packed) operand->packed = o.at(l.slots[kPackedOperand]);
  if (g.groups) g.group_ends = static_cast<std::int32_t const*>(o.at(l.slots[kGroupEnds]));
  return g;
}
Reduction at(LaunchOf<Reduction> const& l, Operands const& o) {
  Reduction r = l.problem;
  r.partial.base = o.at(l.slots[0]), r.D.base = o.at(l.slots[1]);
  r.C.base = o.at(l.slots[2]);
  return r;
}

void make_launches(Plan& plan, Device const& device) {
  for (int i = 0; i < plan.num_launches; ++i)
    std::visit(
        [&](auto& l) {
          if (l.kernel->make)
            l.made = l.kernel->make(l.problem, device, l.workspace.in != OperandSlot::In::nothing, l.config);
        },
        plan.launches[std::size_t(i)]);
  if (plan.last_chunk) {
    Plan last = *plan.last_chunk;
    make_launches(last, device);
    plan.last_chunk = std::make_shared<Plan const>(std::move(last));
  }
}

namespace {

template <class P>
BaseAddresses base_addresses_of(LaunchOf<P> const& l, Operands const& operands) {
  BaseAddresses places;
  for (int i = 0; i < kOperands; ++i) places.set(i, operands.at(l.slots[std::size_t(i)]));
  places.set(kWorkspaceRegion, operands.at(l.workspace));
  return places;
}

}  // namespace

void run(Plan const& plan, Device const& device, Operands const& operands, cudaStream_t stream) {
  // A plan with one launch needs no preparation: nothing has been launched before its kernel throws.
  if (plan.num_launches > 1 || !plan.is_whole() || plan.workspace_bytes > 0)
    for_each_launch(plan, operands, [&](auto const& l, Operands const& now) {
      if (!l.made && l.kernel->prepare) l.kernel->prepare(at(l, now), device, now.at(l.workspace), l.config);
    });
  for_each_launch(plan, operands, [&](auto const& l, Operands const& now) {
    if (l.made)
      l.made->run(base_addresses_of(l, now), stream);
    else
      l.kernel->run(at(l, now), device, now.at(l.workspace), stream, l.config);
  });
}

void run_list(Plan const& plan, Device const& device, std::span<Pair const> pairs, cudaStream_t stream) {
  LaunchOf<Copy> const& launch = *plan.find<Copy>();
  if (is_list(plan)) return launch.made->run(pairs, stream);
  auto const without = [](void const* p, std::int64_t shift) {
    return static_cast<char*>(const_cast<void*>(p)) - shift;
  };
  for (Pair const& p : pairs) {
    Operands const operands{{without(p.dst, launch.slots[0].offset), without(p.src, launch.slots[1].offset), nullptr},
                            nullptr};
    run(plan, device, operands, stream);
  }
}

}  // namespace inlay::planner
