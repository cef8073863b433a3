#include "measure/bench.h"

#include <algorithm>

#include "measure/copy_candidates.h"
#include "measure/device_clock.h"
#include "measure/gemm_candidates.h"
#include "measure/host_time.h"
#include "measure/measure.h"
#include "problems/problem.h"

namespace inlay::lab {
namespace {

// Measures the host time of the public function and sets it in its row, if that row is ok.
template <class C>
void add_host_time(C const& c, std::vector<Row>& rows, cudaStream_t stream) {
  auto const row = std::find_if(rows.begin(), rows.end(),
                                [&](Row const& r) { return r.kernel == c.notation().public_function && r.ok(); });
  if (row != rows.end()) row->host = host_time(c, stream);
}

template <class C>
Measured bench_case(C const& c, SuiteCase const& listed, BenchOptions const& options, Progress& progress) {
  Stream const stream = make_stream();
  Measured measured;
  auto const candidates = [&](typename C::Call const& call, cudaStream_t s) {
    return lab::candidates(c, call, s, listed.kernels, options);
  };
  measured.rows = measure<C>(c, candidates, options, stream.get(), progress);
  measured.clock_mhz = clock_mhz(stream.get());
  for (Row& row : measured.rows) {
    row.suite = listed.suite;
    double const limit = peak(c, current_device(), row.clock_mhz.value_or(measured.clock_mhz));
    if (row.rate && limit > 0) row.of_peak = *row.rate / limit;
  }
  if (options.host) add_host_time(c, measured.rows, stream.get());
  return measured;
}

}  // namespace

Measured bench(SuiteCase const& listed, BenchOptions const& options, Progress& progress) {
  return std::visit([&](auto const& c) { return bench_case(c, listed, options, progress); }, listed.problem);
}

}  // namespace inlay::lab
