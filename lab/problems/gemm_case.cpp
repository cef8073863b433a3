#include "problems/gemm_case.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

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

void Kind<GemmCase>::validate(GemmCase const& c) {
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

std::vector<Field> Kind<GemmCase>::fields(GemmCase& c) {
  return {
      {"m", "--m", &c.M, "rows of C", true, true},
      {"n", "--n", &c.N, "columns of C", true, true},
      {"k", "--k", &c.K, "what is summed over", true, true},
      {"alpha", "--alpha", &c.alpha, "factor of the product"},
      {"beta", "--beta", &c.beta, "factor of C's old values"},
      {"lda", "--lda", &c.lda, "elements from one row of A, as it is stored, to the next (default: its columns)",
       false},
      {"ldb", "--ldb", &c.ldb, "the same of B", false},
      {"ldc", "--ldc", &c.ldc, "the same of C", false},
      {nullptr, "--accuracy", &c.compute, "how a sum is formed: one_level or two_level", false},
      {"batch", "--batch", &c.batch, "how many matrices"},
      {"layout", "--layout", &c.layout, "of A and of B: n as written, t stored transposed", true, true},
  };
}

void Kind<GemmCase>::take_item(GemmCase& c, std::smatch const& m) {
  c.M = number(m[1]), c.N = number(m[2]), c.K = number(m[3]), c.layout = m[4];
}

void Kind<GemmCase>::write(GemmCase const& c, std::string const& variant, Json& json) {
  json["batch"] = c.batch;
  json["layout"] = c.layout;
  if (c.alpha != 1) json["alpha"] = c.alpha;
  if (c.beta != 0) json["beta"] = c.beta;
  if (c.lda) json["lda"] = c.lda;
  if (c.ldb) json["ldb"] = c.ldb;
  if (c.ldc) json["ldc"] = c.ldc;
  if (c.compute == Compute::fp32_two_level) json["accuracy"] = "two_level";
  json["variant"] = variant;
  json["dtype"] = "f32";
}

bool Kind<GemmCase>::wrote(Json const& row) { return row.contains("layout"); }

GemmCase Kind<GemmCase>::read(Json const& row) {
  GemmCase c;
  read_extents(row.at("case"), {&c.M, &c.N, &c.K});
  c.batch = row.value("batch", c.batch);
  c.layout = row.at("layout");
  c.alpha = row.value("alpha", c.alpha), c.beta = row.value("beta", c.beta);
  c.lda = row.value("lda", c.lda), c.ldb = row.value("ldb", c.ldb), c.ldc = row.value("ldc", c.ldc);
  if (row.contains("accuracy")) c.compute = row["accuracy"] == "two_level" ? Compute::fp32_two_level : Compute::fp32;
  return c;
}

double Kind<GemmCase>::bytes(GemmCase const& c) {
  double const m = double(c.M), n = double(c.N), k = double(c.K);
  return 4 * (m * k + k * n + m * n * (c.beta != 0 ? 2 : 1)) * double(c.batch);
}

double Kind<GemmCase>::replayed_fma(GemmCase const& c) {
  auto const padded = [](std::int64_t extent) { return double((extent + 127) / 128 * 128); };
  return padded(c.M) * padded(c.N) * double(c.K) * double(c.batch);
}

std::vector<OperandBuffer> Kind<GemmCase>::operands(GemmCase const& c) {
  auto const buffer = [&](char const* name, Stored const& x) {
    return OperandBuffer{name, c.batch * x.elements(), 4, true};
  };
  return {buffer("A", c.a()), buffer("B", c.b()), buffer("C", c.c())};
}

GemmCall Kind<GemmCase>::call(GemmCase const& c, std::span<void* const> at) {
  auto const floats = [&](std::size_t n) { return static_cast<float*>(at[n]); };
  return {c.alpha, c.beta, floats(0), floats(1), floats(2)};
}

GemmViews views(GemmCase const& c, GemmCall const& call) {
  return {view(call.a, c.a(), c.batch, c.a_transposed()), view(call.b, c.b(), c.batch, c.b_transposed()),
          view(call.c, c.c(), c.batch, false)};
}

Gemm gemm_of(GemmCase const& c, GemmCall const& call) {
  auto const [a, b, out] = views(c, call);
  return make_gemm(a, b, out, {call.alpha, call.beta}, c.compute);
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
