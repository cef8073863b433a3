// The text that explains a choice.
#include <inlay/model/format.h>
#include <inlay/planner/long_sums.h>

#include <algorithm>
#include <string>
#include <vector>

namespace inlay::planner {
namespace {

std::string configured(LaunchOf<Copy> const& l) {
  std::string s = l.kernel->name;
  if (l.config.tile) s += format(" tile %d", l.config.tile);
  Tiling const& t = l.config.tiling;
  for (int i = 0; i < t.modes; ++i) s += format("%s%d:%d", i ? "," : " ", t.tiled[i].mode, t.tiled[i].extent);
  if (t.modes)
    s += format(" run %d/%d lanes %d%s", t.run_modes, t.run_splits, t.lanes,
                t.padding == Tiling::Padding::odd_pitch ? " odd" : "");
  return s;
}
std::string configured(LaunchOf<Gemm> const& l) {
  Gemm const& g = l.problem;
  std::string s = l.kernel->name;
  if (l.config.tile) s += format(" tile %d", l.config.tile);
  if (l.config.columns) s += format(" of %d columns", l.config.columns);
  auto const slice_K = static_cast<long long>(g.slice_K);
  if (g.slice_K && g.slices > 1) s += format(" %d slices of %lld", g.slices, slice_K);
  if (g.slice_K && g.slices == 1)
    s += format(" slices of %lld in a %s", slice_K, is_half(g.A.type) ? "cluster" : "block");
  return s;
}
std::string configured(LaunchOf<Reduction> const& l) { return l.kernel->name; }

// The end of a candidate's line in why(): how candidate `index`, with the plan `other`, compares with the chosen one.
template <class P>
std::string comparison_text(Plan const& plan, Plan const& other, int index) {
  if (!plan.measured_us.empty()) {
    float const us = plan.measured_us[std::size_t(index)];
    if (us == 0) return "; not measured";
    return format("; slower: measured %.2f us, the choice %.2f us", us, plan.measured_us[std::size_t(plan.candidate)]);
  }
  if (plan.tuned_us > 0) return "; not compared: the choice was tuned";
  if (index >= plan.num_compared) return "; not compared: the choice is within 4 % of a copy";
  return other.seconds > plan.seconds ? "; slower" : "; as fast";
}

// A line of why() about a candidate.
struct CandidateLine {
  std::string text;
  double rank;  // -1: the chosen one; predicted seconds; or one of these
};
inline constexpr double kUnpredicted = 1e30, kRejects = 1e31;
// All lines in their order or, of more than `most`, the first by rank, and how many others there are.
std::string lines_text(std::vector<CandidateLine> lines, std::size_t most) {
  std::string s;
  auto const runs = [](CandidateLine const& line) { return line.rank < kRejects; };
  bool const cut = lines.size() > most && std::any_of(lines.begin(), lines.end(), runs);
  if (cut) std::stable_sort(lines.begin(), lines.end(), [](auto const& a, auto const& b) { return a.rank < b.rank; });
  std::size_t shown = 0, reject = 0;
  for (CandidateLine const& line : lines) {
    if (!cut || (shown < most && runs(line)))
      s += line.text, ++shown;
    else
      reject += !runs(line);
  }
  if (shown < lines.size())
    s += format("     and %zu more, %zu of which reject the problem\n", lines.size() - shown, reject);
  return s;
}

// What is said of a sum in parts; empty: it is none.
std::string parts_text(Plan const&, Copy const&) { return {}; }
std::string parts_text(Plan const& plan, Gemm const& g) {
  auto const* const launch = plan.find<Gemm>();
  if (!takes_parts(g)) return {};
  if (launch ? launch->problem.K() == g.K() : !is_long_sum(g) && !may_be_long_sum(g)) return {};
  std::string s = launch ? format("  K is summed in parts of %lld, one after the other",
                                  static_cast<long long>(launch->problem.K()))
                         : std::string("  K would be summed in parts, one after the other");
  if (std::size_t const bytes = bytes_of_long_sums(g)) s += format(", in %zu bytes of workspace", bytes);
  return s + "\n";
}

}  // namespace

std::string configuration_of(Plan const& plan) {
  std::string s;
  for (int i = 0; i < plan.num_launches; ++i)
    s += (i ? " + " : "") + std::visit([](auto const& l) { return configured(l); }, plan.launches[std::size_t(i)]);
  if (s.empty()) return "no kernel";
  if (plan.workspace_bytes) s += format("; %zu bytes", plan.workspace_bytes);
  if (plan.chunks > 1) s += format("; %lld chunks", static_cast<long long>(plan.chunks));
  return plan.last_chunk ? s + "; then " + configuration_of(*plan.last_chunk) : s;
}

template <class P>
std::string why(Plan const& plan, P const& problem, Device const& device, WorkspaceLimit limit,
                std::type_identity_t<std::span<Candidate<P> const>> all, std::size_t most) {
  using Trait = Planner<P>;
  std::string s = Trait::problem_text(problem, device);
  if (problem.elements() == 0) return s;
  if (device.is_scaled) s += "  the device table lacks this GPU: predicted times are of an H200, scaled\n";
  std::string const parts = parts_text(plan, problem);
  s += parts;
  if (plan.candidate < 0) {
    s += "no kernel can run it\n";
  } else {
    Candidate<P> const& chosen = all[std::size_t(plan.candidate)];
    s += std::string("chosen: ") + chosen.kernel->name + ". " + chosen.kernel->idea + "\n";
    if (plan.tuned_us > 0) s += format("  tuned: it took %.2f us when it was measured, the least\n", plan.tuned_us);
    s += Trait::choice_text(plan, chosen, problem, device, limit);
    if (std::int64_t const chunks = plan.chunks + (plan.last_chunk != nullptr); chunks > 1 && parts.empty())
      s += "  the batch runs in " + std::to_string(chunks) + " chunks, one after the other\n";
  }
  auto const wanted = Trait::wanted(problem, device, limit, all);
  std::vector<CandidateLine> lines;
  typename Trait::Shared shared;
  for (Candidate<P> const& candidate : all) {
    bool const chosen = &candidate - all.data() == plan.candidate;
    std::string line = std::string("  ") + (chosen ? "->" : "  ") + " " + candidate.kernel->name;
    if (*candidate.label) line += std::string(" (") + candidate.label + ")";
    Attempt const a = attempt_in_chunks(candidate, problem, device, limit, shared);
    line += ": ";
    if (a.rejected) {
      lines.push_back({line + a.rejected.sentence() + "\n", kRejects});
      continue;
    }
    line += Trait::candidate_text(chosen ? plan : a.plan, candidate, problem, device);
    bool const predicted = a.plan.seconds > 0;
    if (!predicted && !chosen) line += ", no predicted time";
    if (!chosen && Trait::applies(candidate, problem, wanted)) {
      line += comparison_text<P>(plan, a.plan, int(&candidate - all.data()));
    } else if (!chosen) {
      line += std::string("; not compared: ") + Trait::otherwise(candidate);
    }
    lines.push_back({line + "\n", chosen ? -1 : predicted ? a.plan.seconds : kUnpredicted});
  }
  return s + lines_text(std::move(lines), most);
}
template std::string why(Plan const&, Copy const&, Device const&, WorkspaceLimit, std::span<Candidate<Copy> const>,
                         std::size_t);
template std::string why(Plan const&, Gemm const&, Device const&, WorkspaceLimit, std::span<Candidate<Gemm> const>,
                         std::size_t);

}  // namespace inlay::planner
