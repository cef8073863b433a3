#include "bench.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <ctime>

#include "cuda_handles.h"
#include "device_clock.h"
#include "gpu.h"
#include "measure.h"
#include "report.h"
#include "usage_error.h"

namespace inlay::lab {
namespace {

// What the file holds already. Refused before anything is measured: a file is of one device.
std::optional<Results> earlier(BenchOptions const& options, Device const& device) {
  if (options.json.empty()) return std::nullopt;
  auto old = load_results(options.json);
  if (old && old->device != device.name)
    throw UsageError(fmt::format("{} was measured on {}, this GPU is {}: name another file", options.json.string(),
                                 old->device, device.name));
  return old;
}

}  // namespace

bool bench(BenchOptions const& options) {
  if (auto const why = why_no_gpu(); !why.empty()) throw UsageError("bench needs a GPU: " + why);
  if (options.samples < 15) throw UsageError(fmt::format("--samples is {}; it must be at least 15", options.samples));
  Device const& device = current_device();
  auto old = earlier(options, device);
  Stream const stream = make_stream();

  Results results{
      device.name, 0, fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr))), options.command, {}};
  bool right = true;
  for (Case const& c : options.cases) {
    std::vector<Row> rows;
    {
      Progress progress;
      auto const contenders = table_rows(c, options.what == "transpose", options.variants);
      rows = measure(c, contenders, options.samples, stream.get(), progress);
      results.clock_mhz = clock_mhz(stream.get());
    }
    fmt::print("{}\n", table(rows, device.name));
    std::fflush(stdout);
    for (Row const& row : rows) right &= !row.verdict.starts_with("FAILED");
    results.rows.insert(results.rows.end(), rows.begin(), rows.end());
  }
  fmt::print("SM clock {:.0f} MHz; of copy: of the faster of {} and {}\n", results.clock_mhz, kMemcpy, kVectorCopy);
  if (!options.json.empty()) {
    if (old) old->merge(results);
    save_results(old ? *old : results, options.json);
  }
  return right;
}

}  // namespace inlay::lab
