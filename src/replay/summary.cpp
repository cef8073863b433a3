#include "replay/summary.h"

#include <algorithm>
#include <cstdio>

namespace inlay::replay {
namespace {

void append(std::string& text, Site const& s, std::size_t width) {
  bool const global = s.space == Space::global, box = s.mechanism == Mechanism::tma;
  char const* const unit = box ? "bytes" : global ? "sectors" : "wavefronts";
  std::string const lane = box ? "box" : std::to_string(s.bytes) + " B";
  double const requests = double(std::max<std::int64_t>(s.traffic.requests, 1));
  char line[160];
  std::snprintf(line, sizeof line, "%6s %10lld %10.2f %10.2f  %s", lane.c_str(), static_cast<long long>(requests),
                s.traffic.per_request(), double(s.ideal) / requests, unit);
  text +=
      std::string(s.store ? "  store " : "  load  ") + s.operand + std::string(width - s.operand.size(), ' ') + line;
  if (std::int64_t const sectors = box ? s.sectors : s.traffic.transactions; global && sectors) {
    std::snprintf(line, sizeof line, ", %.0f %% used", 100 * double(s.useful) / double(32 * sectors));
    text += line;
  }
  text += '\n';
}

}  // namespace

std::string summary(Recorder const& recorder) {
  std::int64_t const n = recorder.finding_count;
  std::string text = recorder.kernel + ": " +
                     (n == 0   ? "ok"
                      : n == 1 ? "1 finding"
                               : std::to_string(n) + " findings, the first of each check") +
                     "\n";
  for (Finding const& f : recorder.findings) text += "  " + std::string(name_of(f.check)) + ": " + f.sentence + "\n";
  if (recorder.sites.empty()) return text;
  std::size_t width = 0;
  for (Site const& s : recorder.sites) width = std::max(width, s.operand.size());
  text += "  access" + std::string(width, ' ') + "  lane   requests       each   at least\n";
  for (Site const& s : recorder.sites) append(text, s, width);
  return text;
}

}  // namespace inlay::replay
