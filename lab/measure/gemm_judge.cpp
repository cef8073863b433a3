#include "measure/gemm_judge.h"

#include <fmt/format.h>
#include <inlay/registry/rounding.h>

#include <algorithm>
#include <cmath>

#include "usage_error.h"

namespace inlay::lab {
namespace {

constexpr double kFewOperations = 2e10;  // so many are summed up in fp64 within a fraction of a second
constexpr int kMostRange = 3;
constexpr std::int64_t kExact = 1 << 24;  // whole numbers up to here are floats
constexpr unsigned kSeedOfA = 1, kSeedOfB = 2;
constexpr Values kSignificands{0};

Nested used(Stored const& x) { return Nested::of({{{x.batch, x.apart}, {x.rows, x.pitch}, {x.cols, x.step}}}); }

// A multiplication as the checks on the device see it.
Product product_of(GemmCase const& c, GemmCall const& call) {
  Stored const a = c.a(), b = c.b();
  bool const ta = c.a_transposed(), tb = c.b_transposed();
  Product p{};
  p.M = c.M, p.N = c.N, p.K = c.K, p.batch = c.batch, p.alpha = call.alpha, p.beta = call.beta;
  p.a = call.a, p.a_m = ta ? a.step : a.pitch, p.a_k = ta ? a.pitch : a.step, p.a_l = a.apart;
  p.b = call.b, p.b_k = tb ? b.step : b.pitch, p.b_n = tb ? b.pitch : b.step, p.b_l = b.apart;
  Stored const out = c.c();
  p.c = call.c, p.c_m = out.pitch, p.c_n = out.step, p.c_l = out.apart, p.c_elements = out.elements(),
  p.c_at = used(out);
  return p;
}

// The largest range, 3 at most, for which every sum is exact in fp32 whatever its order.
Values whole_numbers(GemmCase const& c) {
  GemmCall const call = with_whole_factors({c.alpha, c.beta, nullptr, nullptr, nullptr});
  auto const alpha = std::max<std::int64_t>(1, std::int64_t(std::abs(call.alpha)));
  auto const beta = std::int64_t(std::abs(call.beta));
  for (int range = kMostRange; range > 0; --range)
    if (c.K <= (kExact - beta * range) / (alpha * range * range)) return {range};
  throw UsageError(
      fmt::format("K is {}: sums of so many whole numbers are not exact in fp32, and could not be checked", c.K));
}

// A and B, the gaps between their rows included.
void fill_operands(GemmCase const& c, GemmCall const& call, Values values, cudaStream_t stream) {
  auto const fill = [&](float const* data, Stored const& x, unsigned seed) {
    fill_values(const_cast<float*>(data), x.elements(), used(x), values, seed, stream);
  };
  fill(call.a, c.a(), kSeedOfA);
  fill(call.b, c.b(), kSeedOfB);
}

// Against sums in fp64: the worst of the matrices that are looked at.
struct Summed {
  Wrong wrong{};
  std::int64_t elements = 0;  // of each of these matrices
  double error = 0, rel_err = 0;
};
Summed summed_up(Product const& p, Values values, cudaStream_t stream) {
  bool const all = double(p.M) * double(p.N) * double(p.K) * double(p.batch) <= kFewOperations;
  Sampled const sampled = all && values.range ? Sampled{p.M, p.N} : sample_of(p);
  // Of many matrices a few hundred; the others are compared with those of another contender.
  std::int64_t const step = std::max<std::int64_t>(1, all && values.range ? p.batch / 256 : p.batch - 1);
  Summed s{{}, sampled.rows * sampled.cols};
  for (std::int64_t l = 0; l < p.batch; l += step) {
    Deviation const d = deviation(p, values, l, sampled, stream);
    if (s.wrong.count == 0) s.wrong = d.wrong;
    // Not std::max: what is no number is the worst.
    if (!(d.error <= s.error)) s.error = d.error;
    if (!(d.rel_err <= s.rel_err)) s.rel_err = d.rel_err;
  }
  return s;
}

}  // namespace

GemmJudge::GemmJudge(GemmCase const& c, GemmCall const& call, cudaStream_t stream)
    : c_(c), call_(call), values_(whole_numbers(c)), stream_(stream) {}

Verdict GemmJudge::operator()(GemmContender const& contender) {
  fill_operands(c_, call_, values_, stream_);
  for (int launch = 0; launch < 2; ++launch)
    if (std::string const said = exactly(contender); said != "ok") return {said, {}};
  return rounded(contender);
}

void GemmJudge::fill(GemmCall const& call) const {
  fill_operands(c_, call, kSignificands, stream_);
  prepare_c(product_of(c_, call), kSignificands, stream_);
}

std::string GemmJudge::again(GemmContender const& contender, std::vector<GemmCall> const& calls,
                             AllSets const& all_sets) {
  std::vector<Product> products;
  for (GemmCall const& call : calls) products.push_back(product_of(c_, call));
  auto const prepare = [&] {
    for (Product const& p : products) prepare_c(p, kSignificands, stream_);
  };
  prepare();
  int const times = all_sets();  // with beta each launch finds what the one before has made
  DeviceMemory const timed = copy_of_c(products[0]);
  std::string const alike = compared(products, reinterpret_cast<float const*>(timed.get()));
  if (alike != "ok") return alike;
  prepare();
  for (int i = 0; i < (c_.beta != 0 ? times : 1); ++i)
    if (std::string const said = launched(contender, calls[0]); !said.empty()) return said;
  return compared({products[0]}, reinterpret_cast<float const*>(timed.get()));
}

std::string GemmJudge::launched(GemmContender const& contender, GemmCall const& call) const {
  return attempt(
      contender.name, [&](cudaStream_t s) { contender.launch(call, s); }, stream_);
}

std::string GemmJudge::exactly(GemmContender const& contender) {
  GemmCall const call = with_whole_factors(call_);
  Product const product = product_of(c_, call);
  prepare_c(product, values_, stream_);
  if (std::string const said = launched(contender, call); !said.empty()) return said;
  if (expected_) return compared({product}, reinterpret_cast<float const*>(expected_.get()));

  // With itself: finds the gaps that were written, and what is no number.
  if (std::string const said = compared({product}, product.c); said != "ok") return said;
  if (Summed const s = summed_up(product, values_, stream_); s.wrong.count) return judged({s.wrong, {}}, s.elements);
  expected_ = copy_of_c(product);
  return "ok";
}

Verdict GemmJudge::rounded(GemmContender const& contender) const {
  fill(call_);
  if (std::string const said = launched(contender, call_); !said.empty()) return {said, {}};
  Summed const s = summed_up(product_of(c_, call_), kSignificands, stream_);
  double const bound = error_bound({c_.K, contender.chain, c_.alpha, c_.beta}, s.elements);
  if (s.error <= bound) return {"ok", s.rel_err};
  return {fmt::format("FAILED: off by {:.3g} in the mean square, more than the {:.3g} that its chains of fp32 may be",
                      s.error, bound),
          {}};
}

std::string GemmJudge::compared(std::vector<Product> const& products, float const* expected) const {
  return judged(compare_c(products, expected, stream_), c_.batch * c_.M * c_.N * std::int64_t(products.size()));
}

DeviceMemory GemmJudge::copy_of_c(Product const& product) const {
  std::size_t const bytes = std::size_t(product.c_elements) * sizeof(float);
  DeviceMemory copy = device_memory(bytes);
  check(cudaMemcpyAsync(copy.get(), product.c, bytes, cudaMemcpyDeviceToDevice, stream_));
  return copy;
}

}  // namespace inlay::lab
