#include <inlay/planner/candidate.h>

namespace inlay::planner {
namespace {

std::string configured(LaunchOf<Copy> const& l) {
  std::string s = l.kernel->info->name;
  Tiling const& t = l.problem.tiling;
  for (int i = 0; i < t.modes; ++i) s += format("%s%d:%d", i ? "," : " ", t.tiled[i].mode, t.tiled[i].extent);
  if (t.modes)
    s += format(" run %d/%d lanes %d%s", t.run_modes, t.run_splits, t.lanes,
                t.padding == Tiling::Padding::odd_pitch ? " odd" : "");
  return s;
}
std::string configured(LaunchOf<Gemm> const& l) {
  Gemm const& g = l.problem;
  std::string s = l.kernel->info->name;
  if (g.tile) s += format(" tile %d", g.tile);
  if (g.slice_K) s += format(" %d slices of %lld", g.slices, static_cast<long long>(g.slice_K));
  return s;
}
std::string configured(LaunchOf<Reduction> const& l) { return l.kernel->info->name; }

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

}  // namespace inlay::planner
