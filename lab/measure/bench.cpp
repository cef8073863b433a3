#include "measure/bench.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>

#include "measure/cuda_handles.h"
#include "measure/device_clock.h"
#include "measure/gemm_measure.h"
#include "measure/gpu.h"
#include "measure/host_time.h"
#include "measure/measure.h"
#include "page/report.h"
#include "usage_error.h"

namespace inlay::lab {
namespace {

std::vector<Row> measured(BenchOptions const& options, std::vector<std::string> const& variants, Case const& c,
                          cudaStream_t stream, Progress& progress) {
  return measure(c, table_rows(c, !options.copies_alone, variants), options.samples, stream, progress);
}

std::vector<Row> measured(BenchOptions const& options, std::vector<std::string> const& variants, GemmCase const& c,
                          cudaStream_t stream, Progress& progress) {
  auto const contenders = [&](GemmCase const&, GemmCall const& call) {
    auto rows = gemm_table_rows(c, call, variants);
    if (options.peers)
      for (GemmContender& peer : options.peers(c)) rows.push_back(std::move(peer));
    return rows;
  };
  return measure(c, contenders, options.samples, stream, progress);
}

// Of the rate; 0 when unknown. 128 fused multiply-adds a clock on each multiprocessor, two operations each.
double peak(Problem const& problem, Device const& device, double clock_mhz) {
  return std::holds_alternative<Case>(problem) ? device.peak_gbps : 1e-6 * device.sm_count * 128 * 2 * clock_mhz;
}

char const* public_function(Problem const& problem) { return std::holds_alternative<Case>(problem) ? kPublic : kGemm; }

// Measures the host's time into the row of the public function, if that row is right, and says so.
void add_host_time(std::vector<Row>& rows, cudaStream_t stream) {
  auto const row = std::find_if(rows.begin(), rows.end(),
                                [](Row const& r) { return r.variant == public_function(r.measured) && r.ok(); });
  if (row == rows.end()) return;
  auto const [call_us, bare_us, calls] = host_time(row->measured, stream);
  row->host_us = call_us, row->host_us_bare = bare_us;
  fmt::print("host: {} {:.2f} us a call, its launches alone {:.2f} us, medians of {} each\n", row->variant, call_us,
             bare_us, calls);
}

// What the shares of each suite are of, and what the public function reached.
std::string summary(std::vector<Row> const& rows) {
  std::string s;
  for (auto at = rows.begin(); at != rows.end();) {
    auto const end = std::find_if(at, rows.end(), [&](Row const& r) {
      return r.suite != at->suite || r.measured.index() != at->measured.index();
    });
    char const* const function = public_function(at->measured);
    double logarithms = 0, least = INFINITY;
    int cases = 0;
    for (auto row = at; row != end; ++row)
      if (row->share && row->variant == function)
        logarithms += std::log(*row->share), least = std::min(least, *row->share), ++cases;
    Units const& in = units(at->measured);
    s += fmt::format("{}, {}: {} is 1", at->suite, in.share, in.yardstick);
    if (cases)
      s += fmt::format("; {} reaches {:.3f} in the geometric mean of {} cases, {:.3f} at least", function,
                       std::exp(logarithms / cases), cases, least);
    s += '\n';
    at = end;
  }
  return s;
}

}  // namespace

bool bench(BenchOptions const& options) {
  if (auto const why = why_no_gpu(); !why.empty()) throw UsageError("bench needs a GPU: " + why);
  if (options.samples < 15) throw UsageError(fmt::format("--samples is {}; it must be at least 15", options.samples));
  Device const& device = current_device();
  Stream const stream = make_stream();

  Results results{
      gpu_name(), 0, fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr))), options.command, {}};
  bool right = true;
  for (auto const& [problem, variants, suite] : options.cases) {
    std::vector<Row> rows;
    {
      Progress progress;
      rows = std::visit(
          [&, &named = variants](auto const& c) { return measured(options, named, c, stream.get(), progress); },
          problem);
      results.clock_mhz = clock_mhz(stream.get());
    }
    double const limit = peak(problem, device, results.clock_mhz);
    for (Row& row : rows) {
      right &= !row.verdict.starts_with("FAILED");
      row.suite = suite;
      if (row.rate && limit > 0) row.of_peak = *row.rate / limit;
    }
    fmt::print("{}", table(rows, results.device));
    if (options.host) add_host_time(rows, stream.get());
    fmt::print("\n");
    std::fflush(stdout);
    results.rows.insert(results.rows.end(), rows.begin(), rows.end());
    if (!options.json.empty()) save_results(results, options.json);  // a run that is cut short leaves what it has
  }
  fmt::print("{}SM clock {:.0f} MHz\n", summary(results.rows), results.clock_mhz);
  return right;
}

}  // namespace inlay::lab
