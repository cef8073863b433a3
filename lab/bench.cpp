#include "bench.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>

#include "cuda_handles.h"
#include "device_clock.h"
#include "gpu.h"
#include "host_time.h"
#include "measure.h"
#include "report.h"
#include "usage_error.h"

namespace inlay::lab {
namespace {

// Measures the host's time into the row of the public function, if that row is right, and says so.
void add_host_time(std::vector<Row>& rows, cudaStream_t stream) {
  auto const row = std::find_if(rows.begin(), rows.end(), [](Row const& r) { return r.variant == kPublic && r.ok(); });
  if (row == rows.end()) return;
  auto const [call_us, bare_us, calls] = host_time(row->measured, stream);
  row->host_us = call_us, row->host_us_bare = bare_us;
  fmt::print("host: {} {:.2f} us a call, its launch alone {:.2f} us, medians of {} each\n", kPublic, call_us, bare_us,
             calls);
}

}  // namespace

bool bench(BenchOptions const& options) {
  if (auto const why = why_no_gpu(); !why.empty()) throw UsageError("bench needs a GPU: " + why);
  if (options.samples < 15) throw UsageError(fmt::format("--samples is {}; it must be at least 15", options.samples));
  Device const& device = current_device();
  Stream const stream = make_stream();

  Results results{
      device.name, 0, fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr))), options.command, {}};
  bool right = true;
  for (auto const& [c, variants] : options.cases) {
    std::vector<Row> rows;
    {
      Progress progress;
      auto const contenders = table_rows(c, options.what == "transpose", variants);
      rows = measure(c, contenders, options.samples, stream.get(), progress);
      results.clock_mhz = clock_mhz(stream.get());
    }
    fmt::print("{}", table(rows, device.name));
    if (options.host) add_host_time(rows, stream.get());
    fmt::print("\n");
    std::fflush(stdout);
    for (Row& row : rows) {
      right &= !row.verdict.starts_with("FAILED");
      row.suite = options.suite;
    }
    results.rows.insert(results.rows.end(), rows.begin(), rows.end());
    if (!options.json.empty()) save_results(results, options.json);  // a run that is cut short leaves what it has
  }
  fmt::print("SM clock {:.0f} MHz; of copy: of the faster of {} and {}\n", results.clock_mhz, kMemcpy, kVectorCopy);
  return right;
}

}  // namespace inlay::lab
