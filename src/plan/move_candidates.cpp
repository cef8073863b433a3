#include <fmt/format.h>
#include <inlay/plan/candidate.h>
#include <inlay/plan/kernel_list.h>
#include <inlay/plan/move_cut.h>

namespace inlay::planning {
namespace {

using Facts = Planner<Move>::Facts;

// A few microseconds, all of them latency: many small blocks without a barrier win, though their reads are strided.
bool small(Facts const& f) {
  auto const& x = f.move.as_transpose();
  int const e = f.move.elem_bytes;
  if (!x || x->L > 1 || e > 4) return false;
  std::int64_t const most = !f.vectors ? 9 << 18 : e < 4 ? 1 << 18 : 0;  // bytes that its tiles cover
  auto const tiles = [](std::int64_t extent) { return (extent + 31) / 32; };
  return tiles(x->M) * tiles(x->N) <= most / (1024 * e);
}

Want<Move> const kSmall{small, "larger than what latency alone decides",
                        "results/h200/squares.json; the model does not tell loads that wait from those that do not"};
Want<Move> const kAny{[](Facts const&) { return true; }};
Want<Move> const kNone{[](Facts const&) { return false; }, "is asked where nothing else runs"};

// What a plan for a move asks for, all pieces together.
Counts counts_of(Plan const& plan, Device const& device) {
  auto const& [variant, problem, at, own] = *plan.find<Move>();
  Counts sum = plan.rest ? counts_of(*plan.rest, device) : Counts{};
  if (variant->info->counts) add(sum, variant->info->counts(problem, device), plan.pieces);
  return sum;
}

// ", tiles of mode 0: 64, mode 2: 32"
std::string cut_text(Move const& move) {
  std::string s;
  for (int i = 0; i < move.cut.modes; ++i)
    s += fmt::format("{}mode {}: {}", i ? ", " : ", tiles of ", move.cut.piece[i].mode, move.cut.piece[i].extent);
  return s;
}

std::string line(char const* what, Traffic const& t, char const* unit) {
  return t.requests ? fmt::format("  {:<14}{:>12} requests, {:.2f} {} each\n", what, t.requests, t.per_request(), unit)
                    : std::string();
}

}  // namespace

Planner<Move>::Facts::Facts(Move const& move, Device const& device)
    : move(move), vectors(!kernels::transpose_registers::facts->rejects(move, device)) {}

// All copy kernels of the library; the model chooses among them.
std::span<Candidate<Move> const> Planner<Move>::rows() {
#define INLAY_UNIT(NAME, PTXAS, ARCH)
#define INLAY_KERNEL(NAME) Candidate<Move>{.variant = kernels::NAME::variant(), .want = kAny},
#define INLAY_INSTANCE(NAME, FAMILY, VALUES) INLAY_KERNEL(NAME)
  static auto const all = [] {
    std::array rows{
#include <inlay/kernels/copy/kernels.def>
    };
    for (Candidate<Move>& row : rows)
      if (row.variant.info == kernels::transpose_direct::facts) row.want = kSmall;
    return rows;
  }();
  return all;
}

bool Planner<Move>::is_best(Plan const& plan, Move const& move, Device const& device) {
  double const bytes = 2 * double(move.elements()) * move.elem_bytes;
  return plan.seconds < 1.04 * seconds_of({.bytes = bytes}, device) && move.elements() * move.elem_bytes > 4 << 20;
}

Attempt Planner<Move>::attempt(Candidate<Move> const& row, Move const& move, Device const& device, bool) {
  Attempt a;
  Info<Move> const& info = *row.variant.info;
  Move chosen = move;
  if (info.limits && !move.cut.modes) chosen.cut = best_cut(move.widened(), *info.limits, device).cut;
  if ((a.rejected = info.rejects(chosen, device))) return a;
  a.plan.seconds = info.seconds ? info.seconds(chosen, device) : 0;
  a.plan.add(
      StepOf<Move>{&row.variant,
                   chosen,
                   {Place{Place::In::operand, 0, move.dst_shift}, Place{Place::In::operand, 1, move.src_shift}}});
  return a;
}

namespace {
// The longest mode: a move that is too large for a grid is so along this one.
std::size_t longest(Move const& move) {
  auto const shorter = [](Mode const& a, Mode const& b) { return a.extent < b.extent; };
  return std::size_t(std::max_element(move.mode, move.mode + move.rank, shorter) - move.mode);
}
}  // namespace

Batch Planner<Move>::batch(Move const& move) {
  Mode const& mode = move.mode[longest(move)];
  return {mode.extent, {mode.dst_stride, mode.src_stride}};
}
Move Planner<Move>::piece(Move const& move, std::int64_t count) {
  Move part = move;
  part.mode[longest(move)].extent = count;
  part.cut = {};  // tiles of the whole may be larger than the piece
  part.analyse();
  return part;
}

std::string Planner<Move>::problem_text(Move const& move, Device const& device) {
  std::string s = fmt::format("move of {} elements of {} bytes, a {}, on {}\n", move.elements(), move.elem_bytes,
                              name_of(move.kind), device.name);
  for (int k = 0; k < move.rank; ++k)
    s += fmt::format("  mode {}: extent {}, source stride {} B, destination stride {} B\n", k, move.mode[k].extent,
                     move.mode[k].src_stride, move.mode[k].dst_stride);
  return s;
}

std::string Planner<Move>::choice_text(Plan const& plan, Candidate<Move> const&, Move const& move, Device const& device,
                                       bool) {
  Counts const c = counts_of(plan, device);
  std::string s = line("global load", c.global_load, "sectors") + line("cp.async", c.async_copy, "sectors") +
                  line("global store", c.global_store, "sectors") + line("shared store", c.shared_store, "wavefronts") +
                  line("shared load", c.shared_load, "wavefronts");
  if (device.peak_gbps > 0)
    s += fmt::format("  at least {:.4f} ms: {} bytes through DRAM at the datasheet's {:.0f} GB/s\n",
                     2e-6 * double(move.elements()) * move.elem_bytes / device.peak_gbps,
                     2 * move.elements() * move.elem_bytes, device.peak_gbps);
  return s;
}

std::string Planner<Move>::row_text(Plan const& plan, Candidate<Move> const&, Move const&, Device const&) {
  return fmt::format("{:.2f} us predicted", 1e6 * plan.seconds) + cut_text(plan.find<Move>()->problem);
}

}  // namespace inlay::planning
