#include "measure/gemm_errors.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "measure/error_data.h"
#include "measure/exact_sums.h"

namespace inlay::lab {
namespace {

// How many matrices refused f16 slices in the last launch; none if the candidate does not try them.
std::optional<std::int64_t> count_refused(GemmCandidate const& candidate, std::int64_t batch, cudaStream_t stream) {
  if (!candidate.refusals || !candidate.workspace) return {};
  std::vector<unsigned> words(std::size_t(batch), 0);
  check(cudaMemcpyAsync(words.data(), candidate.workspace->get() + *candidate.refusals, words.size() * sizeof(unsigned),
                        cudaMemcpyDeviceToHost, stream));
  check(cudaStreamSynchronize(stream));
  auto const is = [](unsigned value) { return [value](unsigned word) { return word == value; }; };
  auto const refused = std::count_if(words.begin(), words.end(), is(1));
  if (refused + std::count_if(words.begin(), words.end(), is(0)) < batch) return {};  // the kernel did not write them
  return refused;
}

double ratio(double error, double cublas) {
  if (cublas > 0) return error / cublas;
  return error == 0 ? 1 : std::numeric_limits<double>::infinity();
}

}  // namespace

void add_errors(GemmCase const& c, std::vector<GemmCandidate> const& candidates, GemmCall const& call,
                std::vector<ErrorData> const& data, std::vector<Row>& rows, cudaStream_t stream, Progress& progress) {
  if (data.empty() || !why_no_errors(c).empty()) return;
  GemmArrays const arrays = gemm_arrays(c, call);
  for (ErrorData const each : data) {
    progress.say(fmt::format("{}: errors on {}", c.sentence(), name_of(each)));
    fill_error_data(arrays, each, stream);
    ExactSums const exact(arrays, stream);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (!rows[i].ok()) continue;
      check(cudaMemsetAsync(call.d, 0xFF, std::size_t(arrays.d_elements) * sizeof(float), stream));  // NaN
      auto const launch = [&](cudaStream_t s) { candidates[i].launch(call, s); };
      if (std::string const said = attempt(candidates[i].name, launch, stream); !said.empty()) {
        rows[i].check_result = said;
        continue;
      }
      auto const [rel_err, largest] = exact.errors(stream);
      rows[i].errors.push_back({name_of(each), rel_err, largest, {}, count_refused(candidates[i], c.batch, stream)});
    }
  }
}

void compare_errors(std::vector<DataError> const& of_cublas, std::vector<Row>& rows) {
  for (Row& row : rows)
    for (DataError& error : row.errors)
      for (DataError const& cublas : of_cublas)
        if (cublas.data == error.data) error.of_cublas = ratio(error.rel_err, cublas.rel_err);
}

}  // namespace inlay::lab
