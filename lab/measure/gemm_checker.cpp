#include "measure/gemm_checker.h"

#include <fmt/format.h>
#include <inlay/registry/rounding.h>

#include <algorithm>
#include <cmath>

#include "usage_error.h"

namespace inlay::lab {
namespace {

constexpr double kFewOperations = 2e10;  // multiply-adds in fp64 that take a fraction of a second
constexpr int kMostRange = 3;
constexpr std::int64_t kExact = 1 << 24;  // floats represent all whole numbers up to this one
constexpr unsigned kSeedOfA = 1, kSeedOfB = 2;
constexpr Values kSignificands{0};

Nested used(Stored const& x) {
  return Nested::of({{{1, 0}, {x.batch, x.batch_stride}, {x.rows, x.pitch}, {x.cols, x.inc}}});
}

// The largest range, at most kMostRange, for which every sum is exact in fp32 in any order.
Values whole_numbers(GemmCase const& c) {
  GemmCall const call = GemmCase::exact({c.alpha, c.beta, nullptr, nullptr, nullptr});
  auto const alpha = std::max<std::int64_t>(1, std::int64_t(std::abs(call.alpha)));
  auto const beta = std::int64_t(std::abs(call.beta));
  for (int range = kMostRange; range > 0; --range)
    if (c.K <= (kExact - beta * range) / (alpha * range * range)) return {range};
  throw UsageError(
      fmt::format("K is {}: sums of as many whole numbers are not exact in fp32, and could not be checked", c.K));
}

// Fills A and B, and the gaps between their rows.
void fill_operands(GemmCase const& c, GemmCall const& call, Values values, cudaStream_t stream) {
  auto const fill = [&](void const* data, Stored const& x, unsigned seed) {
    fill_values(const_cast<void*>(data), c.dtype(), x.elements(), used(x), values, seed, stream);
  };
  fill(call.a, c.a(), kSeedOfA);
  fill(call.b, c.b(), kSeedOfB);
}

// The comparison with sums in fp64: the worst of the checked matrices.
struct Summed {
  Wrong wrong{};
  std::int64_t elements = 0;  // checked in each matrix
  double error = 0, rel_err = 0;
};
Summed summed_up(GemmArrays const& p, Values values, cudaStream_t stream) {
  bool const all = double(p.M) * double(p.N) * double(p.K) * double(p.batch) <= kFewOperations;
  Sampled const sampled = all && values.range ? Sampled{p.M, p.N} : sample_of(p);
  // At most a few hundred matrices of a batch. All others are compared with the results of another candidate.
  std::int64_t const step = std::max<std::int64_t>(1, all && values.range ? p.batch / 256 : p.batch - 1);
  Summed s{{}, sampled.rows * sampled.cols};
  for (std::int64_t l = 0; l < p.batch; l += step) {
    Deviation const d = deviation(p, values, l, sampled, stream);
    if (s.wrong.count == 0) s.wrong = d.wrong;
    // Not std::max: NaN is the worst error.
    if (!(d.error <= s.error)) s.error = d.error;
    if (!(d.rel_err <= s.rel_err)) s.rel_err = d.rel_err;
  }
  return s;
}

}  // namespace

GemmArrays gemm_arrays(GemmCase const& c, GemmCall const& call) {
  Stored const a = c.a(), b = c.b();
  bool const ta = c.a_transposed(), tb = c.b_transposed();
  GemmArrays p{};
  p.M = c.M, p.N = c.N, p.K = c.K, p.batch = c.batch, p.alpha = call.alpha, p.beta = call.beta;
  p.type = p.type_d = c.dtype();
  p.a = call.a, p.a_m = ta ? a.inc : a.pitch, p.a_k = ta ? a.pitch : a.inc, p.a_l = a.batch_stride;
  p.b = call.b, p.b_k = tb ? b.inc : b.pitch, p.b_n = tb ? b.pitch : b.inc, p.b_l = b.batch_stride;
  Stored const out = c.d();
  p.d = call.d, p.d_m = out.pitch, p.d_n = out.inc, p.d_l = out.batch_stride, p.d_elements = out.elements(),
  p.d_at = used(out);
  return p;
}

GemmChecker::GemmChecker(GemmCase const& c, GemmCall const& call, cudaStream_t stream)
    : c_(c), call_(call), values_(whole_numbers(c)), stream_(stream) {}

CheckResult GemmChecker::operator()(GemmCandidate const& candidate) {
  fill_operands(c_, call_, values_, stream_);
  for (int launch = 0; launch < 2; ++launch)
    if (std::string const said = exactly(candidate); said != "ok") return {said, {}};
  return rounded(candidate);
}

void GemmChecker::fill(GemmCall const& call) const {
  fill_operands(c_, call, kSignificands, stream_);
  prepare_d(gemm_arrays(c_, call), kSignificands, stream_);
}

std::string GemmChecker::again(GemmCandidate const& candidate, std::vector<GemmCall> const& calls,
                               AllSets const& all_sets) {
  std::vector<GemmArrays> gemms;
  for (GemmCall const& call : calls) gemms.push_back(gemm_arrays(c_, call));
  auto const prepare = [&] {
    for (GemmArrays const& p : gemms) prepare_d(p, kSignificands, stream_);
  };
  prepare();
  int const times = all_sets();  // with beta each launch reads the result of the previous one
  DeviceMemory const timed = copy_of_d(gemms[0]);
  std::string const alike = compared(gemms, timed.get());
  if (alike != "ok") return alike;
  prepare();
  for (int i = 0; i < (c_.beta != 0 ? times : 1); ++i)
    if (std::string const said = launched(candidate, calls[0]); !said.empty()) return said;
  return compared({gemms[0]}, timed.get());
}

std::string GemmChecker::launched(GemmCandidate const& candidate, GemmCall const& call) const {
  return attempt(
      candidate.name, [&](cudaStream_t s) { candidate.launch(call, s); }, stream_);
}

std::string GemmChecker::exactly(GemmCandidate const& candidate) {
  GemmCall const call = GemmCase::exact(call_);
  GemmArrays const gemm = gemm_arrays(c_, call);
  prepare_d(gemm, values_, stream_);
  if (std::string const said = launched(candidate, call); !said.empty()) return said;
  if (candidate.rounds_partial_sums) return compared({gemm}, gemm.d);  // finds written gaps and NaNs
  if (expected_) return compared({gemm}, expected_.get());

  // Comparing D with itself finds written gaps and NaNs.
  if (std::string const said = compared({gemm}, gemm.d); said != "ok") return said;
  if (Summed const s = summed_up(gemm, values_, stream_); s.wrong.count) return check_text({s.wrong, {}}, s.elements);
  expected_ = copy_of_d(gemm);
  return "ok";
}

CheckResult GemmChecker::rounded(GemmCandidate const& candidate) const {
  fill(call_);
  if (std::string const said = launched(candidate, call_); !said.empty()) return {said, {}};
  Summed const s = summed_up(gemm_arrays(c_, call_), kSignificands, stream_);
  // Partial sums that are rounded add as much error as the result's own rounding, or a few times that.
  double const bound =
      (candidate.rounds_partial_sums ? 4 : 1) *
      registry::error_bound({c_.K, candidate.accumulation_length, c_.alpha, c_.beta, c_.dtype(), candidate.truncates},
                            s.elements);
  if (s.error <= bound) return {"ok", s.rel_err};
  return {fmt::format("FAILED: off by {:.3g} in the mean square, more than the {:.3g} that its chains of fp32 may be",
                      s.error, bound),
          {}};
}

std::string GemmChecker::compared(std::vector<GemmArrays> const& gemms, void const* expected) const {
  return check_text(compare_d(gemms, expected, stream_), c_.batch * c_.M * c_.N * std::int64_t(gemms.size()));
}

DeviceMemory GemmChecker::copy_of_d(GemmArrays const& gemm) const {
  std::size_t const bytes = std::size_t(gemm.d_elements) * std::size_t(bytes_of(gemm.type_d));
  DeviceMemory copy = device_memory(bytes);
  check(cudaMemcpyAsync(copy.get(), gemm.d, bytes, cudaMemcpyDeviceToDevice, stream_));
  return copy;
}

}  // namespace inlay::lab
