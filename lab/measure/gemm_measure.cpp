#include "measure/gemm_measure.h"

#include <inlay/plan/device.h>

#include "measure/gemm_check.h"

namespace inlay::lab {
namespace {

// Of those rows that are ok, on the values that are there; all are held against cuBLAS's.
void add_errors(std::vector<Row>& rows, std::vector<GemmContender> const& contenders, Product const& p,
                GemmCall const& call, cudaStream_t stream) {
  std::optional<double> cublas;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!rows[i].ok()) continue;
    prepare_c(p, {}, stream);
    contenders[i].launch(call, stream);
    rows[i].rel_err = deviation(p, {}, 0, sample_of(p), stream).rel_err;
    if (rows[i].variant == kCublas) cublas = rows[i].rel_err;
    rows[i].rel_err_cublas = cublas;
  }
}

}  // namespace

std::vector<Row> measure(GemmCase const& c, GemmContenders const& contenders_of, int samples, cudaStream_t stream,
                         Progress& progress) {
  GemmBuffers const buffers(c, current_device().l2_bytes);
  GemmCall const call = buffers.call(0);
  auto const contenders = contenders_of(c, call);
  buffers.fill(exact_values(c), 1, stream);
  ExactCheck check(c, call, stream);
  std::vector<Trial> trials;
  for (GemmContender const& x : contenders)
    trials.push_back({{x.name, [&](int set, cudaStream_t s) { x.launch(buffers.call(set), s); }},
                      1e-9 * c.operations(),
                      x.name == kCublas,
                      [&] { return check(x); }});
  auto rows = verified(c, trials, progress);
  buffers.fill({}, buffers.count(), stream);
  add_errors(rows, contenders, product_of(c, call), call, stream);
  time_right(rows, trials, buffers.count(), samples, stream, progress);
  return rows;
}

}  // namespace inlay::lab
