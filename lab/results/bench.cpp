#include "results/bench.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>

#include "measure/bench.h"
#include "measure/gpu.h"
#include "page/report.h"
#include "results/output.h"
#include "usage_error.h"

namespace inlay::lab {
namespace {

// What the shares of each suite are of, and what the public function reached.
std::string summary(std::vector<Row> const& rows) {
  std::string s;
  for (auto at = rows.begin(); at != rows.end();) {
    AnyKind const& kind = at->measured.kind();
    auto const end =
        std::find_if(at, rows.end(), [&](Row const& r) { return r.suite != at->suite || &r.measured.kind() != &kind; });
    double logarithms = 0, least = INFINITY;
    int cases = 0;
    for (auto row = at; row != end; ++row)
      if (row->share && row->variant == kind.public_function)
        logarithms += std::log(*row->share), least = std::min(least, *row->share), ++cases;
    s += fmt::format("{}, {}: {} is 1", at->suite, kind.units.share, kind.units.yardstick);
    if (cases)
      s += fmt::format("; {} reaches {:.3f} in the geometric mean of {} cases, {:.3f} at least", kind.public_function,
                       std::exp(logarithms / cases), cases, least);
    s += '\n';
    at = end;
  }
  return s;
}

}  // namespace

bool run_bench(BenchOptions const& options) {
  if (!options.json.empty()) check_writable(options.json);
  if (auto const why = why_no_gpu(); !why.empty()) throw UsageError("bench needs a GPU: " + why);
  if (options.samples < 15) throw UsageError(fmt::format("--samples is {}; it must be at least 15", options.samples));
  Results results{
      gpu_name(), 0, fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr))), options.command, {}};
  bool right = true;
  for (SuiteCase const& listed : options.cases) {
    auto const [rows, clock_mhz] = bench(listed, options);
    results.clock_mhz = clock_mhz;
    fmt::print("{}", table(rows, results.device));
    for (Row const& row : rows) {
      right &= !row.verdict.starts_with("FAILED");
      if (row.host)
        fmt::print("host: {} {:.2f} us a call, its launches alone {:.2f} us, medians of {} each\n", row.variant,
                   row.host->call_us, row.host->bare_us, row.host->calls);
    }
    fmt::print("\n");
    flush_stdout();
    results.rows.insert(results.rows.end(), rows.begin(), rows.end());
    if (!options.json.empty()) save_results(results, options.json);  // a run that is cut short leaves what it has
  }
  fmt::print("{}SM clock {:.0f} MHz\n", summary(results.rows), results.clock_mhz);
  return right;
}

}  // namespace inlay::lab
