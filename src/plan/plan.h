// A plan: the steps that answer a problem, and the workspace that they share. Pure: making one needs no GPU, allocates
// nothing and takes a microsecond or a few.
#pragma once
#include <inlay/plan/variant.h>
#include <inlay/problem/reduction.h>

#include <array>
#include <memory>
#include <variant>
#include <vector>

namespace inlay::planning {

// Where an operand of a step lies: so many bytes into one of the caller's operands, or into the workspace.
struct Place {
  enum class In : std::uint8_t { nothing, operand, workspace };
  In in = In::nothing;
  int operand = 0;  // of the caller's, in the order of Operands
  std::int64_t offset = 0;
};

// What one call brings. Of a move: destination, source; of a product: A, B, C.
struct Operands {
  void* operand[3];
  void* workspace;

  void* at(Place const& place) const {
    if (place.in == Place::In::nothing) return nullptr;
    return static_cast<char*>(place.in == Place::In::workspace ? workspace : operand[place.operand]) + place.offset;
  }
};

// A plan holds for operands whose addresses agree, modulo this many bytes, with those that it was made for: kernels derive
// their geometry from the address modulo the 32 bytes of a sector.
inline constexpr std::int64_t kPlanAlignment = 32;

// A plan knows no workspace yet: its problems presume one at an address where no operand lies.
inline constexpr std::uint64_t kPresumed = std::uint64_t(1) << 62;

// One variant and its problem. `at`: of a move destination and source; of a product A, B and C; of a reduction the
// partial sums and C.
template <class P>
struct StepOf {
  Variant<P> const* variant;
  P problem;
  std::array<Place, 3> at;
  Place own = {};  // what the variant wants for itself
};
using Step = std::variant<StepOf<Reduction>, StepOf<Gemm>, StepOf<Move>>;

struct Plan {
  static constexpr int kMaxSteps = 4;
  std::array<Step, kMaxSteps> step;  // in the order of their launches
  int steps = 0;
  int row = -1;  // of the candidates: which one answers. -1: none can, or none need
  std::size_t workspace_bytes = 0;
  double seconds = 0;  // predicted; 0: nobody has
  int compared = 0;    // candidates before this row were compared with the choice
  // Where candidates were timed: microseconds of each, by row; 0: of those that were not. Empty: none was timed.
  std::vector<float> measured_us = {};

  // Where a grid does not hold the whole batch the steps answer a piece of it. They run `pieces` times, each time with the
  // caller's operands so many bytes further; `rest` answers what is left, if anything is.
  std::int64_t pieces = 1;
  std::array<std::int64_t, 3> apart{};
  std::shared_ptr<Plan const> rest = {};
  bool is_whole() const { return pieces == 1 && !rest; }

  template <class P>
  void add(StepOf<P> const& s) {
    step[std::size_t(steps++)] = s;
  }
  // Number n of the steps with this kind of problem; null: there are not so many.
  template <class P>
  StepOf<P> const* find(int n = 0) const {
    for (int i = 0; i < steps; ++i)
      if (auto const* s = std::get_if<StepOf<P>>(&step[std::size_t(i)]); s && n-- == 0) return s;
    return nullptr;
  }
};

// The problem of a launch at the addresses of a call.
Move at(StepOf<Move> const& step, Operands const& operands);
Gemm at(StepOf<Gemm> const& step, Operands const& operands);
Reduction at(StepOf<Reduction> const& step, Operands const& operands);

// Calls f(variant, problem, workspace) for each launch of the plan with these operands, in order.
template <class F>
void for_each_launch(Plan const& plan, Operands operands, F const& f) {
  for (std::int64_t piece = 0; piece < plan.pieces; ++piece) {
    for (int i = 0; i < plan.steps; ++i)
      std::visit([&](auto const& s) { f(*s.variant, at(s, operands), operands.at(s.own)); }, plan.step[std::size_t(i)]);
    for (std::size_t k = 0; k < 3; ++k)
      if (plan.apart[k]) operands.operand[k] = static_cast<char*>(operands.operand[k]) + plan.apart[k];
  }
  if (plan.rest) for_each_launch(*plan.rest, operands, f);
}

// Launches the steps on `stream`, with these operands in the place of those that the plan was made with: their addresses
// agree with those modulo kPlanAlignment. The workspace has plan.workspace_bytes and begins at a multiple of 256. What a
// launch can be refused for is found before the first one.
void run(Plan const& plan, Device const& device, Operands const& operands, cudaStream_t stream);

}  // namespace inlay::planning
