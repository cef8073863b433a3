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
  t.dtype = type, t.stride[1] = x.inc;
  if (x.batch > 1) {
    t.rank = 3;
    for (int k : {2, 1}) t.extent[k] = t.extent[k - 1], t.stride[k] = t.stride[k - 1];
    t.extent[0] = x.batch, t.stride[0] = x.batch_stride;
  }
  return transposed ? t.transposed() : t;
}

// Matrices do not overlap if they follow one another, or if all of them are side by side within a pitch.
void check_batch_stride(char const* flag, Stored const& x, bool may_share) {
  if (x.batch == 1 || (may_share && x.batch_stride == 0)) return;
  std::int64_t const row = (x.cols - 1) * x.inc + 1;
  if (x.batch_stride >= (x.rows - 1) * x.pitch + row ||
      (x.batch_stride >= row && (x.batch - 1) * x.batch_stride + row <= x.pitch))
    return;
  throw UsageError(fmt::format("{} is {}: {} matrices of {} rows, {} elements apart, would overlap", flag,
                               x.batch_stride, x.batch, x.rows, x.pitch));
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
  return std::max(rows * pitch, (batch - 1) * batch_stride + (batch_stride < pitch ? 1 : rows) * pitch);
}

std::string GemmCase::sentence() const {
  std::string s = fmt::format("{} x {} x {}", M, N, K);
  if (batch > 1) s = fmt::format("{} x ({})", batch, s);
  s += ", " + transposes();
  if (type != "f32") s += ", " + type;
  if (alpha != 1) s += fmt::format(", alpha {}", alpha);
  if (beta != 0) s += fmt::format(", beta {}", beta);
  if (a().pitch != a().cols || b().pitch != b().cols || d().pitch != d().cols)
    s += fmt::format(", pitches {}, {} and {}", a().pitch, b().pitch, d().pitch);
  if (inc_a != 1 || inc_b != 1 || inc_d != 1) s += fmt::format(", steps {}, {} and {}", inc_a, inc_b, inc_d);
  if (batch > 1 && (batch_stride_a >= 0 || batch_stride_b >= 0 || batch_stride_d >= 0))
    s += fmt::format(", matrices {}, {} and {} apart", a().batch_stride, b().batch_stride, d().batch_stride);
  if (compute == Compute::fp32_blocked) s += ", blocked summation";
  if (is_split(compute)) s += compute == Compute::split_safe ? ", bf16 slices" : ", f16 slices";
  return s;
}

bool operator==(GemmCase const& x, GemmCase const& y) {
  return x.M == y.M && x.N == y.N && x.K == y.K && x.batch == y.batch && x.type == y.type && x.transa == y.transa &&
         x.transb == y.transb && x.alpha == y.alpha && x.beta == y.beta && x.a() == y.a() && x.b() == y.b() &&
         x.d() == y.d() && x.compute == y.compute;
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
  at_least_one("--inc-a", inc_a);
  at_least_one("--inc-b", inc_b);
  at_least_one("--inc-d", inc_d);
  check_pitch("--lda", lda, a().cols * inc_a, "A");
  check_pitch("--ldb", ldb, b().cols * inc_b, "B");
  check_pitch("--ldd", ldd, d().cols * inc_d, "D");
  int const bytes = bytes_of(dtype());
  check_bytes({a().rows, a().pitch, batch, 0, bytes}, "A");
  check_bytes({b().rows, b().pitch, batch, 0, bytes}, "B");
  check_bytes({d().rows, d().pitch, batch, 0, bytes}, "D");
  check_batch_stride("--batch-stride-a", a(), true);
  check_batch_stride("--batch-stride-b", b(), true);
  check_batch_stride("--batch-stride-d", d(), false);
}

std::vector<Field> GemmCase::fields() {
  return {
      {"m", "--m", &M, "rows of D", true, true},
      {"n", "--n", &N, "columns of D", true, true},
      {"k", "--k", &K, "what is summed over", true, true},
      {"alpha", "--alpha", &alpha, "factor of the GEMM"},
      {"beta", "--beta", &beta, "factor of D's old values"},
      {"lda", "--lda", &lda, "elements from one row of A, as it is stored, to the next (default: its columns)", false},
      {"ldb", "--ldb", &ldb, "the same of B", false},
      {"ldd", "--ldd", &ldd, "the same of D", false},
      {"inc_a", "--inc-a", &inc_a, "elements of A from one to the next of a row, as it is stored"},
      {"inc_b", "--inc-b", &inc_b, "the same of B"},
      {"inc_d", "--inc-d", &inc_d, "the same of D"},
      {"batch_stride_a", "--batch-stride-a", &batch_stride_a,
       "elements of A from matrix to matrix; 0: all are one (default: one behind the other)", false},
      {"batch_stride_b", "--batch-stride-b", &batch_stride_b, "the same of B", false},
      {"batch_stride_d", "--batch-stride-d", &batch_stride_d, "the same of D, but 0", false},
      {nullptr, "--compute", &compute, "how a sum is formed: fp32, fp32_blocked, split_safe or split_fast", false},
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

void GemmCase::write(std::string const& kernel, Json& json) const {
  if (!group.empty()) json["class"] = group;
  json["batch"] = batch;
  json["transa"] = transa, json["transb"] = transb;
  if (alpha != 1) json["alpha"] = alpha;
  if (beta != 0) json["beta"] = beta;
  if (lda) json["lda"] = lda;
  if (ldb) json["ldb"] = ldb;
  if (ldd) json["ldd"] = ldd;
  for (auto const& [key, inc] : {std::pair{"inc_a", inc_a}, {"inc_b", inc_b}, {"inc_d", inc_d}})
    if (inc != 1) json[key] = inc;
  for (auto const& [key, stride] : {std::pair{"batch_stride_a", batch_stride_a},
                                    {"batch_stride_b", batch_stride_b},
                                    {"batch_stride_d", batch_stride_d}})
    if (stride >= 0) json[key] = stride;
  if (compute != Compute::fp32) json["compute"] = kComputeWords[int(compute)];
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
  c.lda = row.value("lda", c.lda), c.ldb = row.value("ldb", c.ldb), c.ldd = row.value("ldd", c.ldd);
  c.inc_a = row.value("inc_a", c.inc_a), c.inc_b = row.value("inc_b", c.inc_b);
  c.inc_d = row.value("inc_d", c.inc_d), c.group = row.value("class", c.group);
  c.batch_stride_a = row.value("batch_stride_a", c.batch_stride_a),
  c.batch_stride_b = row.value("batch_stride_b", c.batch_stride_b);
  c.batch_stride_d = row.value("batch_stride_d", c.batch_stride_d);
  for (int level = 0; level < int(std::size(kComputeWords)); ++level)
    if (row.value("compute", "fp32") == kComputeWords[level]) c.compute = Compute(level);
  return c;
}

double GemmCase::bytes() const {
  double const m = double(M), n = double(N), k = double(K), all = double(batch);
  auto const matrices = [&](Stored const& x) { return x.batch_stride ? all : 1; };
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
  return {buffer("A", a()), buffer("B", b()), buffer("D", d())};
}

GemmCall GemmCase::call(std::span<void* const> at) const { return {alpha, beta, at[0], at[1], at[2]}; }

GemmViews views(GemmCase const& c, GemmCall const& call) {
  DType const type = c.dtype();
  return {view(call.a, type, c.a(), c.a_transposed()), view(call.b, type, c.b(), c.b_transposed()),
          view(call.d, type, c.d(), false)};
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
