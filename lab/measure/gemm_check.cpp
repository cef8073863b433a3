#include "measure/gemm_check.h"

#include <algorithm>

namespace inlay::lab {
namespace {

constexpr double kFewOperations = 2e10;  // so many are summed up in fp64 within a fraction of a second

}  // namespace

ExactCheck::ExactCheck(GemmCase const& c, GemmCall const& call, cudaStream_t stream)
    : values_(exact_values(c)), call_(with_whole_factors(call)), product_(product_of(c, call_)), stream_(stream) {}

std::string ExactCheck::operator()(GemmContender const& contender) {
  std::string said = once(contender);
  return said == "ok" ? once(contender) : said;
}

std::string ExactCheck::once(GemmContender const& contender) {
  prepare_c(product_, values_, stream_);
  auto const said = attempt(
      contender.name, [&](cudaStream_t s) { contender.launch(call_, s); }, stream_);
  if (!said.empty()) return said;
  if (expected_) return compared(reinterpret_cast<float const*>(expected_.get()));

  // With itself: finds the gaps that were written, and what is no number.
  for (std::string const& found : {compared(product_.c), summed_up()})
    if (found != "ok") return found;
  std::size_t const bytes = std::size_t(product_.c_elements()) * sizeof(float);
  expected_ = device_memory(bytes);
  check(cudaMemcpyAsync(expected_.get(), product_.c, bytes, cudaMemcpyDeviceToDevice, stream_));
  return "ok";
}

std::string ExactCheck::compared(float const* expected) const {
  return judged(compare_c(product_, expected, stream_), product_.batch * product_.M * product_.N);
}

std::string ExactCheck::summed_up() const {
  Product const& p = product_;
  bool const all = double(p.M) * double(p.N) * double(p.K) * double(p.batch) <= kFewOperations;
  Sampled const sampled = all ? Sampled{p.M, p.N} : sample_of(p);
  std::int64_t const step = all ? 1 : std::max<std::int64_t>(1, p.batch - 1);
  for (std::int64_t l = 0; l < p.batch; l += step)
    if (Deviation const d = deviation(p, values_, l, sampled, stream_); d.wrong.count)
      return judged({d.wrong, {}}, sampled.rows * sampled.cols);
  return "ok";
}

}  // namespace inlay::lab
