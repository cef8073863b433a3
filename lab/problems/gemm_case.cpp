#include "problems/gemm_case.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "problems/checks.h"
#include "usage_error.h"

namespace inlay::lab {
namespace {

Tensor view(void const* data, DType type, Stored const& x, bool transposed) {
  Tensor t = matrix(static_cast<float*>(const_cast<void*>(data)), x.rows, x.cols, x.pitch);
  t.dtype = type, t.stride[1] = x.step;
  if (x.batch > 1) {
    t.rank = 3;
    for (int k : {2, 1}) t.extent[k] = t.extent[k - 1], t.stride[k] = t.stride[k - 1];
    t.extent[0] = x.batch, t.stride[0] = x.apart;
  }
  return transposed ? t.transposed() : t;
}

// Matrices do not overlap if they follow one another, or if all of them are side by side within a pitch.
void check_apart(char const* flag, Stored const& x, bool may_share) {
  if (x.batch == 1 || (may_share && x.apart == 0)) return;
  std::int64_t const row = (x.cols - 1) * x.step + 1;
  if (x.apart >= (x.rows - 1) * x.pitch + row || (x.apart >= row && (x.batch - 1) * x.apart + row <= x.pitch)) return;
  throw UsageError(fmt::format("{} is {}: {} matrices of {} rows, {} elements apart, would overlap", flag, x.apart,
                               x.batch, x.rows, x.pitch));
}

constexpr Notation kNotation{
    .public_function = "gemm",
    .suites = "suites/gemm",
    .item_form = "(\\d+)x(\\d+)x(\\d+):([nt])([nt])",
    .item_shape = "MxNxK:TRANSPOSES",
    .item_example = "4096x4096x4096:nn",
    .units = {
        "TFLOP/s", "tflops", "of cuBLAS", "of_cublas",
        "the fastest of cuBLAS in pedantic and default math and cublasLt with the best of 16 algorithms, all with sums "
        "in fp32 and without TF32, at the same types and transposes,",
        2, true}};

}  // namespace

Notation const& GemmCase::notation() const { return kNotation; }

std::int64_t Stored::elements() const {
  return std::max(rows * pitch, (batch - 1) * apart + (apart < pitch ? 1 : rows) * pitch);
}

std::string GemmCase::sentence() const {
  std::string s = fmt::format("{} x {} x {}", M, N, K);
  if (batch > 1) s = fmt::format("{} x ({})", batch, s);
  s += ", " + transposes();
  if (type != "f32") s += ", " + type;
  if (alpha != 1) s += fmt::format(", alpha {}", alpha);
  if (beta != 0) s += fmt::format(", beta {}", beta);
  if (a().pitch != a().cols || b().pitch != b().cols || c().pitch != c().cols)
    s += fmt::format(", pitches {}, {} and {}", a().pitch, b().pitch, c().pitch);
  if (step_a != 1 || step_b != 1 || step_c != 1) s += fmt::format(", steps {}, {} and {}", step_a, step_b, step_c);
  if (batch > 1 && (apart_a >= 0 || apart_b >= 0 || apart_c >= 0))
    s += fmt::format(", matrices {}, {} and {} apart", a().apart, b().apart, c().apart);
  if (compute == Compute::fp32_blocked) s += ", blocked summation";
  if (is_split(compute)) s += compute == Compute::split_safe ? ", bf16 slices" : ", f16 slices";
  return s;
}

bool operator==(GemmCase const& x, GemmCase const& y) {
  return x.M == y.M && x.N == y.N && x.K == y.K && x.batch == y.batch && x.type == y.type && x.transa == y.transa &&
         x.transb == y.transb && x.alpha == y.alpha && x.beta == y.beta && x.a() == y.a() && x.b() == y.b() &&
         x.c() == y.c() && x.compute == y.compute;
}

GemmCase gemm_case(std::int64_t M, std::int64_t N, std::int64_t K, std::string const& transposes) {
  GemmCase c;
  c.M = M, c.N = N, c.K = K, c.transa = transposes.substr(0, 1), c.transb = transposes.substr(1);
  return c;
}

void GemmCase::validate() const {
  at_least_one("--m", M);
  at_least_one("--n", N);
  at_least_one("--k", K);
  at_least_one("--batch", batch);
  if (type != "f32" && type != "bf16" && type != "f16")
    throw UsageError(fmt::format("--type is '{}'; it is f32, bf16 or f16", type));
  for (auto const& [flag, trans] : {std::pair{"--transa", transa}, {"--transb", transb}})
    if (trans != "n" && trans != "t") throw UsageError(fmt::format("{} is '{}'; it is n or t", flag, trans));
  at_least_one("--step-a", step_a);
  at_least_one("--step-b", step_b);
  at_least_one("--step-c", step_c);
  check_pitch("--lda", lda, a().cols * step_a, "A");
  check_pitch("--ldb", ldb, b().cols * step_b, "B");
  check_pitch("--ldc", ldc, c().cols * step_c, "C");
  int const bytes = bytes_of(dtype());
  check_bytes({a().rows, a().pitch, batch, 0, bytes}, "A");
  check_bytes({b().rows, b().pitch, batch, 0, bytes}, "B");
  check_bytes({c().rows, c().pitch, batch, 0, bytes}, "C");
  check_apart("--apart-a", a(), true);
  check_apart("--apart-b", b(), true);
  check_apart("--apart-c", c(), false);
}

std::vector<Field> GemmCase::fields() {
  return {
      {"m", "--m", &M, "rows of C", true, true},
      {"n", "--n", &N, "columns of C", true, true},
      {"k", "--k", &K, "what is summed over", true, true},
      {"alpha", "--alpha", &alpha, "factor of the GEMM"},
      {"beta", "--beta", &beta, "factor of C's old values"},
      {"lda", "--lda", &lda, "elements from one row of A, as it is stored, to the next (default: its columns)", false},
      {"ldb", "--ldb", &ldb, "the same of B", false},
      {"ldc", "--ldc", &ldc, "the same of C", false},
      {"step_a", "--step-a", &step_a, "elements of A from one of a row, as it is stored, to the next"},
      {"step_b", "--step-b", &step_b, "the same of B"},
      {"step_c", "--step-c", &step_c, "the same of C"},
      {"apart_a", "--apart-a", &apart_a,
       "elements of A from matrix to matrix; 0: all are one (default: one behind the other)", false},
      {"apart_b", "--apart-b", &apart_b, "the same of B", false},
      {"apart_c", "--apart-c", &apart_c, "the same of C, but 0", false},
      {nullptr, "--accuracy", &compute, "how a sum is formed: fp32, blocked, split_safe or split_fast", false},
      {"type", "--type", &type, "of the elements: f32, bf16 or f16"},
      {"batch", "--batch", &batch, "how many matrices"},
      {"class", "--class", &group, "what it is filed under (default: nothing)", false},
      {"transa", "--transa", &transa, "n: A is stored as (m, k); t: stored transposed", true, true},
      {"transb", "--transb", &transb, "n: B is stored as (k, n); t: stored transposed", true, true},
  };
}

void GemmCase::take_item(std::smatch const& m) {
  M = number(m[1]), N = number(m[2]), K = number(m[3]), transa = m[4], transb = m[5];
}

// The words of --accuracy and of suites, in the order of Compute.
constexpr char const* kLevels[] = {"fp32", "blocked", "split_safe", "split_fast"};

void GemmCase::write(std::string const& kernel, Json& json) const {
  if (!group.empty()) json["class"] = group;
  json["batch"] = batch;
  json["transa"] = transa, json["transb"] = transb;
  if (alpha != 1) json["alpha"] = alpha;
  if (beta != 0) json["beta"] = beta;
  if (lda) json["lda"] = lda;
  if (ldb) json["ldb"] = ldb;
  if (ldc) json["ldc"] = ldc;
  for (auto const& [key, step] : {std::pair{"step_a", step_a}, {"step_b", step_b}, {"step_c", step_c}})
    if (step != 1) json[key] = step;
  for (auto const& [key, apart] : {std::pair{"apart_a", apart_a}, {"apart_b", apart_b}, {"apart_c", apart_c}})
    if (apart >= 0) json[key] = apart;
  if (compute != Compute::fp32) json["accuracy"] = kLevels[int(compute)];
  json["kernel"] = kernel;
  json["dtype"] = type;
}

bool GemmCase::wrote(Json const& row) { return row.contains("transa"); }

GemmCase GemmCase::read(Json const& row) {
  GemmCase c;
  read_extents(row.at("case"), {&c.M, &c.N, &c.K});
  c.batch = row.value("batch", c.batch);
  c.type = row.value("dtype", c.type);
  c.transa = row.at("transa"), c.transb = row.at("transb");
  c.alpha = row.value("alpha", c.alpha), c.beta = row.value("beta", c.beta);
  c.lda = row.value("lda", c.lda), c.ldb = row.value("ldb", c.ldb), c.ldc = row.value("ldc", c.ldc);
  c.step_a = row.value("step_a", c.step_a), c.step_b = row.value("step_b", c.step_b);
  c.step_c = row.value("step_c", c.step_c), c.group = row.value("class", c.group);
  c.apart_a = row.value("apart_a", c.apart_a), c.apart_b = row.value("apart_b", c.apart_b);
  c.apart_c = row.value("apart_c", c.apart_c);
  for (int level = 0; level < int(std::size(kLevels)); ++level)
    if (row.value("accuracy", "fp32") == kLevels[level]) c.compute = Compute(level);
  return c;
}

double GemmCase::bytes() const {
  double const m = double(M), n = double(N), k = double(K), all = double(batch);
  auto const matrices = [&](Stored const& x) { return x.apart ? all : 1; };
  return bytes_of(dtype()) * (m * k * matrices(a()) + k * n * matrices(b()) + m * n * (beta != 0 ? 2 : 1) * all);
}

double GemmCase::replayed_fma() const {
  auto const padded = [](std::int64_t extent) { return double((extent + 127) / 128 * 128); };
  return padded(M) * padded(N) * double(K) * double(batch);
}

std::vector<OperandBuffer> GemmCase::operands() const {
  auto const buffer = [&](char const* name, Stored const& x) {
    return OperandBuffer{name, x.elements(), bytes_of(dtype()), dtype()};
  };
  return {buffer("A", a()), buffer("B", b()), buffer("C", c())};
}

GemmCall GemmCase::call(std::span<void* const> at) const { return {alpha, beta, at[0], at[1], at[2]}; }

GemmViews views(GemmCase const& c, GemmCall const& call) {
  DType const type = c.dtype();
  return {view(call.a, type, c.a(), c.a_transposed()), view(call.b, type, c.b(), c.b_transposed()),
          view(call.c, type, c.c(), false)};
}

Gemm GemmCase::canonical(GemmCall const& call, Info<Gemm> const*) const {
  auto const [a, b, out] = views(*this, call);
  return make_gemm(a, b, out, {call.alpha, call.beta}, compute);
}

GemmCall GemmCase::exact(GemmCall call) {
  for (float* factor : {&call.alpha, &call.beta})
    if (*factor != 0) {
      float const whole = std::clamp(std::round(*factor), -3.f, 3.f);
      *factor = whole != 0 ? whole : std::copysign(1.f, *factor);
    }
  return call;
}

}  // namespace inlay::lab
