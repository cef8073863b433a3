// Every candidate is checked first, then timed in turn with the other candidates that passed, or alone.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "measure/device_data.h"
#include "measure/timing.h"
#include "results/bench.h"
#include "results/results.h"

namespace inlay::lab {

// Thrown by a launch when the candidate does not accept the case; the message is the reason.
struct Rejection : Error {
  using Error::Error;
};

// The check result of a candidate.
struct CheckResult {
  std::string said;               // "ok", "rejected: ..." or "FAILED: ..."
  std::optional<double> rel_err;  // GEMMs: the relative error of the result
};

struct Measurement {
  Timed timed;
  double work;    // of a launch, in the rate's unit times a millisecond
  bool baseline;  // the fastest baseline has the share 1
  std::function<CheckResult()> check_result;
  std::function<std::string(AllSets const&)>
      again;  // checks all sets of buffers once more, launched as they were timed
};

// Launches and synchronises the stream. Returns an empty string, "rejected: ..." or "FAILED: ...". Throws Error if the
// kernel fails on the GPU: the CUDA context is lost then.
std::string attempt(std::string const& name, std::function<void(cudaStream_t)> const& launch, cudaStream_t stream);

// "ok", or "FAILED: ..." with the wrong elements; `elements`: the number of elements that were checked.
std::string check_text(Checked const& checked, std::int64_t elements);

// A row for each measurement, with its check result.
std::vector<Row> verified(Problem const& problem, std::vector<Measurement> const& measurements, Progress& progress);

// Sets the times, rates and shares of the rows that are ok and whose results on all sets are right after the timing.
void time_right(std::vector<Row>& rows, std::vector<Measurement> const& measurements, int sets,
                MeasureOptions const& options, cudaStream_t stream, Progress& progress);

}  // namespace inlay::lab
