#include <inlay/planner/candidate.h>

namespace inlay::planner {

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
    s += format("     and %lld more, %lld of which reject the problem\n", (long long)(lines.size() - shown),
                (long long)reject);
  return s;
}

}  // namespace inlay::planner
