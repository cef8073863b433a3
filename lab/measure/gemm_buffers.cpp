#include "measure/gemm_buffers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "usage_error.h"

namespace inlay::lab {
namespace {

constexpr int kMostRange = 3;
constexpr std::int64_t kExact = 1 << 24;  // whole numbers up to here are floats
constexpr unsigned kSeedOfA = 1, kSeedOfB = 2;

}  // namespace

Product product_of(GemmCase const& c, GemmCall const& call) {
  Stored const a = c.a(), b = c.b();
  bool const ta = c.a_transposed(), tb = c.b_transposed();
  Product p{};
  p.M = c.M, p.N = c.N, p.K = c.K, p.batch = c.batch, p.alpha = call.alpha, p.beta = call.beta;
  p.a = call.a, p.a_m = ta ? 1 : a.pitch, p.a_k = ta ? a.pitch : 1, p.a_l = a.elements();
  p.b = call.b, p.b_k = tb ? 1 : b.pitch, p.b_n = tb ? b.pitch : 1, p.b_l = b.elements();
  p.c = call.c, p.ldc = c.c().pitch;
  return p;
}

Values exact_values(GemmCase const& c) {
  GemmCall const call = with_whole_factors({c.alpha, c.beta, nullptr, nullptr, nullptr});
  auto const alpha = std::max<std::int64_t>(1, std::int64_t(std::abs(call.alpha)));
  auto const beta = std::int64_t(std::abs(call.beta));
  for (int range = kMostRange; range > 0; --range)
    if (c.K <= (kExact - beta * range) / (alpha * range * range)) return {range};
  throw UsageError(
      fmt::format("K is {}: sums of so many whole numbers are not exact in fp32, and could not be checked", c.K));
}

void fill_operands(GemmCase const& c, GemmCall const& call, Values values, cudaStream_t stream) {
  auto const fill = [&](float const* data, Stored const& x, unsigned seed) {
    fill_values(const_cast<float*>(data), c.batch * x.rows, x.cols, x.pitch, values, seed, stream);
  };
  fill(call.a, c.a(), kSeedOfA);
  fill(call.b, c.b(), kSeedOfB);
}

}  // namespace inlay::lab
