#include <algorithm>

#include <inlay/explain/explanation.h>
#include <inlay/model/format.h>

namespace inlay::explain {
using namespace model;
using replay::Finding;
using replay::Mechanism;

namespace {

std::string duration(double seconds) {
  return seconds < 1e-3 ? format("%.1f us", seconds * 1e6) : format("%.3f ms", seconds * 1e3);
}

char const* mechanism(Site const& s) {
  return s.mechanism == Mechanism::tma        ? "TMA"
         : s.mechanism == Mechanism::wgmma    ? "wgmma"
         : s.mechanism == Mechanism::cp_async ? "cp.async"
         : s.mechanism == Mechanism::atomic   ? "atomic"
                                              : "";
}
char const* unit(Site const& s) {
  if (s.mechanism == Mechanism::tma) return "bytes";
  return s.space == replay::Space::global ? "sectors" : "wavefronts";
}

// Wraps text to lines of at most 120 columns, indented by `in`; continuation lines are indented by two more spaces.
std::string wrapped(std::string const& text, std::string const& in) {
  constexpr std::size_t kColumns = 120;
  std::string s = in;
  std::size_t column = in.size();
  for (std::size_t at = 0, end; at < text.size(); at = end + 1) {
    end = std::min(text.find(' ', at), text.size());
    if (column + end - at > kColumns) s.back() = '\n', s += "  " + in, column = in.size() + 2;
    s += text.substr(at, end - at) + ' ', column += end - at + 1;
  }
  s.back() = '\n';
  return s;
}

std::string row(ExplainedSite const& x) {
  Site const& s = x.site;
  bool const global = s.space == replay::Space::global, box = s.mechanism == Mechanism::tma;
  std::string const lane = box ? "box" : format("%u B", s.bytes);
  std::string text = format("  %-22s %-8s %5s %10s %11.2f %8.2f  %-10s", x.name.c_str(), mechanism(s), lane.c_str(),
                            count(double(s.traffic.requests)).c_str(), x.per_request(), x.ideal(), unit(s));
  if (global) text += format(" %5.1f %%", 100 * x.useful_share());
  if (box) text += format("  %s sectors", count(double(s.sectors)).c_str());
  return text + "\n";
}

std::string sites(Explanation const& x) {
  std::string text = format("  %-22s %-8s %5s %10s %11s %8s  %-10s %7s\n", "access", "", "lane", "requests", "each",
                            "ideal", "", "useful");
  for (ExplainedSite const& s : x.sites) {
    text += row(s);
    if (!s.advice.empty()) text += wrapped(s.advice, "      ");
  }
  return text;
}

std::string totals(Explanation const& x) {
  Counts const& c = x.totals;
  double const wavefronts = double(c.shared_load.transactions + c.shared_store.transactions);
  std::string text = format("  at least %s bytes from and to DRAM", count(x.work.dram_bytes).c_str());
  if (wavefronts > 0) text += format(", %s wavefronts of shared memory", count(wavefronts).c_str());
  double const fma = double(c.all_fma());
  int const clock = rate_of(c, x.device);
  if (fma > 0)
    text += format(", %s %s with %.2f wavefronts of shared memory for each %d", count(fma).c_str(),
                   c.tensor_fma() ? "FMAs of tensor cores" : "FMAs", clock * wavefronts / fma, clock);
  if (fma > 0 && x.work.flops > 0) text += format("; %.1f %% of the FMAs are necessary", 50 * x.work.flops / fma);
  text += "\n";
  for (LaunchDemand const& l : x.demand.launches)
    text += format("  %s blocks of %u threads and %zu bytes of shared memory, %d of them on a multiprocessor%s\n",
                   count(double(l.blocks)).c_str(), l.threads, l.shared_bytes, resident_blocks(l, x.device),
                   l.cluster > 1 ? format(", in clusters of %u", l.cluster).c_str() : "");
  return text;
}

std::string times(Explanation const& x) {
  std::string text;
  double fma = 0, waits = 0;
  for (Resource const& r : x.resources) {
    if (r.name == "FMA") fma = r.seconds;
    if (r.name == "FMA waits") waits = r.seconds;
  }
  if (waits > 0)
    text += format("  FMA + waits  %8s  %3.0f %%  the two below, which do not overlap\n", duration(fma + waits).c_str(),
                   x.seconds > 0 ? 100 * (fma + waits) / x.seconds : 0.);
  for (Resource const& r : x.resources)
    text += format("  %-8s %12s  %3.0f %%  %s\n", r.name.c_str(), duration(r.seconds).c_str(),
                   x.seconds > 0 ? 100 * r.seconds / x.seconds : 0., r.why.c_str());
  text += format("  predicted: %s", duration(x.seconds).c_str());
  if (x.work.flops > 0)
    text += format(", %.1f TFLOP/s", x.work.flops / x.seconds / 1e12);
  else
    text += format(", %.0f GB/s", x.work.dram_bytes / x.seconds / 1e9);
  text += format(", limited by %s\n", x.limit.c_str());
  if (std::string const doubt = x.doubt(); !doubt.empty()) text += wrapped("doubt: " + doubt, "  ");
  return text + wrapped("next: " + x.advice(), "  ");
}

}  // namespace

std::string findings_text(Recorder const& recorder) {
  std::int64_t const n = recorder.finding_count;
  std::string const many = n == 1 ? "1 finding" : std::to_string(n) + " findings, the first of each check";
  std::string text = recorder.kernel + ": " + (n == 0 ? "ok" : many) + "\n";
  for (Finding const& f : recorder.findings) text += "  " + std::string(name_of(f.check)) + ": " + f.sentence + "\n";
  return text;
}

std::string to_text(Explanation const& x) {
  std::string text = x.work.kernel + ": " + x.work.what + "\n\n";
  if (x.demand.launches.empty()) return text + "  nothing to do\n";
  text += "What its warps ask for; ideal: the fewest that the bytes of a request can take\n" + sites(x) + "\n";
  text += "All in all\n" + totals(x) + "\n";
  text += format("Time on %s (%s)\n", x.device.name.c_str(), x.device.source.c_str()) + times(x);
  return text;
}

}  // namespace inlay::explain
