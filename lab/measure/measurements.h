// Every candidate is checked first, then timed together with the other candidates that are right.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "measure/device_data.h"
#include "measure/timing.h"
#include "results/results.h"

namespace inlay::lab {

// Thrown by a launch: the candidate does not take this case, and says why.
struct Rejection : Error {
  using Error::Error;
};

// What is said of a candidate: "ok", "rejected: ..." or "FAILED: ...".
struct CheckResult {
  std::string said;
  std::optional<double> rel_err;  // of those that round
};

struct Measurement {
  Timed timed;
  double work;    // of a launch, in the rate's unit times a millisecond
  bool baseline;  // the fastest of these has the share 1
  std::function<CheckResult()> check_result;
  std::function<std::string(AllSets const&)> again;  // the check result on all sets, as they were timed
};

// Launches, and waits until it is done: empty, or "rejected: ..." or "FAILED: ...". Throws Error when the GPU fails.
std::string attempt(std::string const& name, std::function<void(cudaStream_t)> const& launch, cudaStream_t stream);

// "ok", or "FAILED: ..." with `elements`, the number of elements that were checked.
std::string check_text(Checked const& checked, std::int64_t elements);

// A row for each measurement, with its check result.
std::vector<Row> verified(Problem const& problem, std::vector<Measurement> const& measurements, Progress& progress);

// The times, rates and shares of those rows that are ok, and still are when all sets have been looked at.
void time_right(std::vector<Row>& rows, std::vector<Measurement> const& measurements, int sets, int samples,
                cudaStream_t stream, Progress& progress);

}  // namespace inlay::lab
