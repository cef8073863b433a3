// How a plan is found, for any kind of problem: candidates in rows, one loop, one text.
#pragma once
#include <inlay/plan/format.h>
#include <inlay/plan/plan.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <string>
#include <type_traits>

namespace inlay::planning {

// What differs between kinds of problems. A specialisation has
//   Facts          what the rows ask of a problem: Facts(P const&, Device const&)
//   Needs          what a row wants of the operands, and how its time is predicted
//   predicts       whether every candidate has a predicted time; else the order of the rows decides
//   rows()         the candidates, in order of preference
//   is_best()      the rows that follow need not be compared
//   attempt()      the plan by which a row answers, or why it cannot
//   batch()        how the problem can be cut into pieces
//   piece()        its first indices of the batch, so many
//   problem_text(), choice_text(), row_text()    its part of why()
template <class P>
struct Planner;

// A condition on problems, and what is said of those that do not meet it.
template <class P>
struct Want {
  bool (*holds)(typename Planner<P>::Facts const&);
  char const* otherwise = "";
  char const* measured = "";  // where the bound is read off measurements: which, and what no closed form says
};

template <class P>
struct Candidate {
  char const* as = "";  // what tells it from other rows of the same variant
  Variant<P> variant;
  Want<P> want;
  typename Planner<P>::Needs needs = {};
};

struct Attempt {
  Reason rejected;
  Plan plan;
};

// A mode along which a problem can be cut: every element of the destination depends on one index of it. `apart`: so many
// bytes of each of the caller's operands lie between an index and the next.
struct Batch {
  std::int64_t extent;
  std::array<std::int64_t, 3> apart;
};

template <class P>
std::span<Candidate<P> const> candidates() {
  return Planner<P>::rows();
}

// The smallest number of indices of the batch, a power of two, after which every operand has advanced by a multiple of
// kPlanAlignment bytes. Pieces whose extent is a multiple of it start at the same residue, so one plan serves all of them.
inline std::int64_t piece_granularity(Batch const& batch) {
  std::int64_t bytes = kPlanAlignment;
  for (std::int64_t stride : batch.apart) bytes = std::gcd(bytes, stride);
  return kPlanAlignment / bytes;
}

// The plan of a candidate. Where one grid cannot hold the whole batch, the plan runs the batch in pieces: their extent is a
// multiple of piece_granularity(), from 1024 indices on of 1024. Rejected if no such extent fits a grid.
template <class P>
Attempt attempt_in_pieces(Candidate<P> const& row, P const& problem, Device const& device, bool may_use_workspace) {
  Attempt whole = Planner<P>::attempt(row, problem, device, may_use_workspace);
  if (!whole.rejected.pieces) return whole;
  Batch const batch = Planner<P>::batch(problem);
  std::int64_t const granularity = piece_granularity(batch);
  for (std::int64_t count = batch.extent, by = whole.rejected.pieces; count > granularity;) {
    count = std::max(count / by, granularity);
    count -= count % (count >= 1024 ? 1024 : granularity);
    Attempt a = Planner<P>::attempt(row, Planner<P>::piece(problem, count), device, may_use_workspace);
    by = a.rejected.pieces;
    if (by) continue;
    if (a.rejected) return a;
    a.plan.pieces = batch.extent / count;
    a.plan.seconds *= double(batch.extent) / double(count);
    for (std::size_t k = 0; k < 3; ++k) a.plan.apart[k] = count * batch.apart[k];
    if (std::int64_t const left = batch.extent % count) {
      Attempt last = Planner<P>::attempt(row, Planner<P>::piece(problem, left), device, may_use_workspace);
      if (last.rejected) return last;
      a.plan.workspace_bytes = std::max(a.plan.workspace_bytes, last.plan.workspace_bytes);
      a.plan.rest = std::make_shared<Plan const>(last.plan);
    }
    return a;
  }
  return whole;
}

// Chooses among the candidates whose `want` holds and that do not reject the problem. If Planner<P>::predicts, the shortest
// predicted time wins, and a candidate whose time is not a positive finite number is skipped; otherwise the first candidate
// wins. If there is none, chooses among the candidates whose `want` does not hold, by the same rule. Without a workspace no
// operand is packed, and candidates that need one reject.
template <class P>
Plan make_plan(P const& problem, Device const& device, bool may_use_workspace,
               std::type_identity_t<std::span<Candidate<P> const>> rows = candidates<P>()) {
  if (problem.elements() == 0) return {};
  typename Planner<P>::Facts const facts(problem, device);
  for (bool wanted : {true, false}) {
    Plan best;
    for (Candidate<P> const& row : rows) {
      if (row.want.holds(facts) != wanted) continue;
      int const index = int(&row - rows.data());
      Attempt a = attempt_in_pieces(row, problem, device, may_use_workspace);
      best.compared = index + 1;
      if (a.rejected) continue;
      if (Planner<P>::predicts && !(a.plan.seconds > 0 && std::isfinite(a.plan.seconds))) continue;
      if (best.row >= 0 && !(a.plan.seconds < best.seconds)) continue;
      best = a.plan;
      best.row = index, best.compared = index + 1;
      if (!Planner<P>::predicts || Planner<P>::is_best(best, problem, device)) return best;
    }
    if (best.row >= 0) return best;
  }
  return {};
}

// The end of a candidate's line in why(): how candidate number `row`, which would run as `other`, compares with the chosen plan.
template <class P>
std::string how_it_compares(Plan const& plan, Plan const& other, int row) {
  if (!plan.measured_us.empty()) {
    float const us = plan.measured_us[std::size_t(row)];
    if (us == 0) return "; not compared: predicted to take more than twice as long";
    return format("; slower: measured %.2f us, the choice %.2f us", us, plan.measured_us[std::size_t(plan.row)]);
  }
  if (row >= plan.compared)
    return Planner<P>::predicts ? "; not compared: the choice is within 4 % of a copy"
                                : "; not compared: the choice comes first in the order of preference";
  return other.seconds > plan.seconds ? "; slower" : "; as fast";
}

// The problem, the choice and its steps, and every candidate in the order of preference: what it would take, or why it
// is out.
template <class P>
std::string why(Plan const& plan, P const& problem, Device const& device, bool may_use_workspace,
                std::type_identity_t<std::span<Candidate<P> const>> rows = candidates<P>()) {
  using Trait = Planner<P>;
  std::string s = Trait::problem_text(problem, device);
  if (problem.elements() == 0) return s;
  if (plan.row < 0) {
    s += "no variant can run it\n";
  } else {
    Info<P> const& info = *rows[std::size_t(plan.row)].variant.info;
    s += std::string("chosen: ") + info.name + ". " + info.idea + "\n";
    s += Trait::choice_text(plan, rows[std::size_t(plan.row)], problem, device, may_use_workspace);
    if (std::int64_t const all = plan.pieces + (plan.rest != nullptr); all > 1)
      s += "  the batch is more than a grid holds: " + std::to_string(all) + " pieces, one after the other\n";
  }
  typename Trait::Facts const facts(problem, device);
  for (Candidate<P> const& row : rows) {
    bool const chosen = &row - rows.data() == plan.row;
    s += std::string("  ") + (chosen ? "->" : "  ") + " " + row.variant.info->name;
    if (*row.as) s += std::string(" (") + row.as + ")";
    Attempt const a = attempt_in_pieces(row, problem, device, may_use_workspace);
    s += ": ";
    if (a.rejected) {
      s += a.rejected.sentence() + "\n";
      continue;
    }
    s += Trait::row_text(a.plan, row, problem, device);
    if (!chosen && row.want.holds(facts)) s += how_it_compares<P>(plan, a.plan, int(&row - rows.data()));
    if (!chosen && !row.want.holds(facts)) {
      s += std::string("; not compared: ") + row.want.otherwise;
      if (*row.want.measured) s += std::string(" (measured: ") + row.want.measured + ")";
    }
    s += "\n";
  }
  return s;
}

template <>
struct Planner<Move> {
  struct Facts {
    Move const& move;
    bool vectors;  // the big kernel for aligned matrices could run

    Facts(Move const& move, Device const& device);
  };
  struct Needs {};
  static constexpr bool predicts = true;
  static std::span<Candidate<Move> const> rows();
  static bool is_best(Plan const& plan, Move const& move, Device const& device);
  static Attempt attempt(Candidate<Move> const& row, Move const& move, Device const& device, bool may_use_workspace);
  static Batch batch(Move const& move);
  static Move piece(Move const& move, std::int64_t count);
  static std::string problem_text(Move const& move, Device const& device);
  static std::string choice_text(Plan const& plan, Candidate<Move> const& row, Move const& move, Device const& device,
                                 bool may_use_workspace);
  static std::string row_text(Plan const& plan, Candidate<Move> const& row, Move const& move, Device const& device);
};

// How a variant wants an operand to lie. One that lies otherwise is packed first: a Move brings it into the workspace,
// contiguous along m or n, its rows (one for each k) whole vectors of 16 bytes, one matrix behind the other.
enum class Layout : std::uint8_t {
  any,      // nothing is packed: the variant rejects for itself
  aligned,  // contiguous along one mode, in whole vectors of 16 bytes from base to base and row to row, as TMA needs it
  aligned_mn,  // aligned, and contiguous along m (A) or n (B)
};

template <>
struct Planner<Gemm> {
  struct Facts {
    Gemm const& g;
    Device const& device;

    Facts(Gemm const& g, Device const& device) : g(g), device(device) {}
  };
  struct Needs {
    Layout a = Layout::any, b = Layout::any;
    bool turns_one = false;     // B is packed where both operands are contiguous along k
    bool runs_without = false;  // the workspace that it wants makes it faster, and is not needed
  };
  static constexpr bool predicts = false;
  static std::span<Candidate<Gemm> const> rows();
  static bool is_best(Plan const&, Gemm const&, Device const&) { return true; }
  static Attempt attempt(Candidate<Gemm> const& row, Gemm const& gemm, Device const& device, bool may_use_workspace);
  static Batch batch(Gemm const& gemm);
  static Gemm piece(Gemm const& gemm, std::int64_t count);
  static std::string problem_text(Gemm const& gemm, Device const& device);
  static std::string choice_text(Plan const& plan, Candidate<Gemm> const& row, Gemm const& gemm, Device const& device,
                                 bool may_use_workspace);
  static std::string row_text(Plan const& plan, Candidate<Gemm> const& row, Gemm const& gemm, Device const& device);
};

}  // namespace inlay::planning
