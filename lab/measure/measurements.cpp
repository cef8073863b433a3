#include "measure/measurements.h"

#include <fmt/format.h>

#include <algorithm>

namespace inlay::lab {

std::string attempt(std::string const& name, std::function<void(cudaStream_t)> const& launch, cudaStream_t stream) {
  try {
    launch(stream);
  } catch (Rejection const& reason) {
    return fmt::format("rejected: {}", reason.what());
  } catch (Error const& error) {
    (void)cudaGetLastError();  // clears the error of a failed launch, which the next call would report
    return fmt::format("FAILED: {}", error.what());
  }
  if (cudaError_t const status = cudaStreamSynchronize(stream); status != cudaSuccess)
    throw Error(fmt::format("{} broke the GPU's context: {}", name, cudaGetErrorString(status)));
  return {};
}

std::string check_text(Checked const& checked, std::int64_t elements) {
  auto const [wrong, stray] = checked;
  if (wrong.count)
    return fmt::format("FAILED: {} of {} elements are wrong, the first is out[{}]", wrong.count, elements, wrong.first);
  if (stray.count)
    return fmt::format("FAILED: {} elements before the base or between rows were overwritten, the first is out[{}]",
                       stray.count, stray.first);
  return "ok";
}

std::vector<Row> verified(Problem const& problem, std::vector<Measurement> const& measurements, Progress& progress) {
  std::vector<Row> rows;
  for (Measurement const& measurement : measurements) {
    progress.say(fmt::format("{}: verifying {}", sentence(problem), measurement.timed.name));
    Row& row = rows.emplace_back();
    CheckResult const check_result = measurement.check_result();
    row.measured = problem, row.kernel = measurement.timed.name, row.is_baseline = measurement.baseline;
    row.check_result = check_result.said, row.rel_err = check_result.rel_err;
  }
  return rows;
}

namespace {

std::vector<Sustained> timed(std::vector<Timed> const& candidates, int sets, MeasureOptions const& options,
                             cudaStream_t stream, Progress& progress) {
  if (options.sustained) return time_sustained(candidates, sets, options.samples, stream, progress);
  std::vector<Sustained> times;
  for (Spread const& ms : time_interleaved(candidates, sets, options.samples, stream, progress))
    times.push_back({ms, 0});
  return times;
}

}  // namespace

void time_right(std::vector<Row>& rows, std::vector<Measurement> const& measurements, int sets,
                MeasureOptions const& options, cudaStream_t stream, Progress& progress) {
  std::vector<Timed> right;
  std::vector<std::string> said(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (rows[i].ok())
      right.emplace_back(measurements[i].timed).afterwards = [&, i](AllSets const& all_sets) {
        progress.say(fmt::format("{}: verifying all sets of {}", sentence(rows[i].measured), rows[i].kernel));
        said[i] = measurements[i].again(all_sets);
      };
  auto const times = timed(right, sets, options, stream, progress);
  auto next = times.begin();
  double baseline = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!rows[i].ok()) continue;
    auto const [ms, clock_mhz] = *next++;
    if (rows[i].check_result = said[i]; !rows[i].ok()) continue;
    rows[i].ms_median = ms.median, rows[i].ms_iqr = ms.iqr, rows[i].rate = measurements[i].work / ms.median;
    if (clock_mhz > 0) rows[i].clock_mhz = clock_mhz;
    if (measurements[i].baseline) baseline = std::max(baseline, *rows[i].rate);
  }
  for (Row& row : rows) {
    row.sustained = options.sustained;
    if (row.rate && baseline > 0) row.share = *row.rate / baseline;
  }
}

}  // namespace inlay::lab
