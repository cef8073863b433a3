#include "problems/gemm_cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "problems/checks.h"
#include "usage_error.h"

namespace inlay::lab {
namespace {

Tensor view(void const* data, Stored const& x, std::int64_t batch, bool transposed) {
  Tensor t = matrix(static_cast<float*>(const_cast<void*>(data)), x.rows, x.cols, x.pitch);
  if (batch > 1) {
    t.rank = 3;
    for (int k : {2, 1}) t.extent[k] = t.extent[k - 1], t.stride[k] = t.stride[k - 1];
    t.extent[0] = batch, t.stride[0] = x.elements();
  }
  return transposed ? t.transposed() : t;
}

}  // namespace

std::string GemmCase::sentence() const {
  std::string s = fmt::format("{} x {} x {}", M, N, K);
  if (batch > 1) s = fmt::format("{} x ({})", batch, s);
  s += ", " + layout;
  if (alpha != 1) s += fmt::format(", alpha {}", alpha);
  if (beta != 0) s += fmt::format(", beta {}", beta);
  if (a().pitch != a().cols || b().pitch != b().cols || c().pitch != c().cols)
    s += fmt::format(", pitches {}, {} and {}", a().pitch, b().pitch, c().pitch);
  if (compute == Compute::fp32_two_level) s += ", two levels";
  return s;
}

bool operator==(GemmCase const& x, GemmCase const& y) {
  return x.M == y.M && x.N == y.N && x.K == y.K && x.batch == y.batch && x.layout == y.layout && x.alpha == y.alpha &&
         x.beta == y.beta && x.a().pitch == y.a().pitch && x.b().pitch == y.b().pitch && x.c().pitch == y.c().pitch &&
         x.compute == y.compute;
}

GemmCase product_of(std::int64_t M, std::int64_t N, std::int64_t K, std::string const& layout) {
  GemmCase c;
  c.M = M, c.N = N, c.K = K, c.layout = layout;
  return c;
}

void validate(GemmCase const& c) {
  at_least_one("--m", c.M);
  at_least_one("--n", c.N);
  at_least_one("--k", c.K);
  at_least_one("--batch", c.batch);
  if (c.layout != "nn" && c.layout != "nt" && c.layout != "tn" && c.layout != "tt")
    throw UsageError(fmt::format("--layout is '{}'; it is nn, nt, tn or tt", c.layout));
  check_pitch("--lda", c.lda, c.a().cols, "A");
  check_pitch("--ldb", c.ldb, c.b().cols, "B");
  check_pitch("--ldc", c.ldc, c.c().cols, "C");
  check_bytes({c.a().rows, c.a().pitch, c.batch, 0, 4}, "A");
  check_bytes({c.b().rows, c.b().pitch, c.batch, 0, 4}, "B");
  check_bytes({c.c().rows, c.c().pitch, c.batch, 0, 4}, "C");
}

std::vector<GemmCase> parse_gemm_cases(std::string const& text, GemmCase const& defaults) {
  std::vector<GemmCase> cases;
  static std::regex const form("(\\d+)x(\\d+)x(\\d+):([a-z]+)");
  over_list(text, form, "MxNxK:LAYOUT such as 4096x4096x4096:nn", [&](std::smatch const& m) {
    GemmCase c = defaults;
    c.M = number(m[1]), c.N = number(m[2]), c.K = number(m[3]), c.layout = m[4];
    validate(c);
    cases.push_back(c);
  });
  return cases;
}

GemmViews views(GemmCase const& c, GemmCall const& call) {
  return {view(call.a, c.a(), c.batch, c.a_transposed()), view(call.b, c.b(), c.batch, c.b_transposed()),
          view(call.c, c.c(), c.batch, false)};
}

Gemm gemm_of(GemmCase const& c, GemmCall const& call) {
  auto const [a, b, out] = views(c, call);
  return make_gemm(a, b, out, {call.alpha, call.beta}, c.compute);
}

GemmCall unplaced(GemmCase const& c) {
  // Any three aligned addresses that are far enough apart.
  auto const at = [](std::uintptr_t n) { return reinterpret_cast<float*>(n << 60); };
  return {c.alpha, c.beta, at(1), at(2), at(3)};
}

GemmCall with_whole_factors(GemmCall call) {
  for (float* factor : {&call.alpha, &call.beta})
    if (*factor != 0) {
      float const whole = std::clamp(std::round(*factor), -3.f, 3.f);
      *factor = whole != 0 ? whole : std::copysign(1.f, *factor);
    }
  return call;
}

}  // namespace inlay::lab
