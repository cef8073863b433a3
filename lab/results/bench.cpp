#include "results/bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "measure/bench.h"
#include "measure/gpu.h"
#include "measure/tune.h"
#include "results/output.h"
#include "results/progress.h"
#include "results/provenance.h"
#include "results/text.h"
#include "usage_error.h"

namespace inlay::lab {
namespace {

// "geometric mean 0.93 of 57 cases, least 0.81, median 0.95"
std::string figures(std::vector<double> shares) {
  std::sort(shares.begin(), shares.end());
  return fmt::format("geometric mean {:.3f} of {}, least {:.3f}, median {:.3f}", geometric_mean(shares),
                     counted(std::int64_t(shares.size()), "case"), shares.front(), shares[shares.size() / 2]);
}

// The "class" of a case in files; empty if the case has none.
std::string class_of(Problem const& problem) {
  Json json;
  std::visit([&](auto const& c) { c.write("", json); }, problem);
  return json.value("class", "");
}

// For each suite: the baseline of its shares, and the shares of the public function, in all and for each class of more
// than three cases.
std::string summary(std::vector<Row> const& rows) {
  std::string s;
  for (auto at = rows.begin(); at != rows.end();) {
    Notation const& kind = notation(at->measured);
    std::string const function = kind.public_function;
    auto const end = std::find_if(at, rows.end(), [&](Row const& r) {  // of the suite's rows
      return r.suite != at->suite || &notation(r.measured) != &kind;
    });
    std::vector<double> all;
    std::map<std::string, std::vector<double>> by_class;
    for (auto row = at; row != end; ++row)
      if (row->share && row->kernel == function)
        all.push_back(*row->share), by_class[class_of(row->measured)].push_back(*row->share);
    s += fmt::format("{}, {}: {} is 1", at->suite, kind.units.share, kind.units.baseline);
    if (!all.empty()) s += fmt::format("; {} reaches {}", function, figures(all));
    s += '\n';
    for (auto const& [name, shares] : by_class)
      if (!name.empty() && shares.size() > 3) s += fmt::format("  {:<18} {}\n", name, figures(shares));
    at = end;
  }
  return s;
}

}  // namespace

bool run_bench(BenchOptions const& options) {
  if (!options.json.empty()) check_writable(options.json);
  if (auto const why = why_no_gpu(); !why.empty()) throw UsageError("bench needs a GPU: " + why);
  if (options.samples < 15) throw UsageError(fmt::format("--samples is {}; it must be at least 15", options.samples));
  if (!options.tuning.empty()) fmt::print("{} tuned choices\n", load_tuned(options.tuning));
  Provenance const from = provenance(options.command);
  Results results{from.device, 0, from.date, from.command, {}, from.driver, from.cuda, from.commit};
  bool right = true;
  Progress progress(options.cases.size());
  for (SuiteCase const& listed : options.cases) {
    progress.next(sentence(listed.problem));
    auto const [rows, clock_mhz] = bench(listed, options, progress);
    progress.erase();
    results.clock_mhz = clock_mhz;
    fmt::print("{}{}", table(rows, results.device), errors_table(rows));
    for (Row const& row : rows) {
      right &= row.is_baseline || !row.check_result.starts_with("FAILED");
      if (row.host)
        fmt::print("host: {} {:.2f} us a call, its launches alone {:.2f} us, medians of {} each\n", row.kernel,
                   row.host->call_us, row.host->bare_us, row.host->calls);
    }
    fmt::print("\n");
    flush_stdout();
    results.rows.insert(results.rows.end(), rows.begin(), rows.end());
    if (!options.json.empty())
      save_results(results, options.json);  // after each case: an interrupted run keeps its rows
  }
  fmt::print("{}SM clock {:.0f} MHz\n", summary(results.rows), results.clock_mhz);
  return right;
}

}  // namespace inlay::lab
