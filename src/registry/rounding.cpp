#include <inlay/registry/rounding.h>

#include <inlay/registry/number.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

namespace inlay::registry {

float significand(std::uint64_t index, unsigned seed) {
  std::uint64_t x = (index + (std::uint64_t(seed) << 40) + 1) * 0x9E3779B97F4A7C15u;
  x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
  x = (x ^ x >> 27) * 0x94D049BB133111EBu;
  auto const bits = std::uint32_t(x >> 40);  // 24: the sign and 23 of the significand
  return std::bit_cast<float>(std::uint32_t(bits >> 23 << 31 | 0x3F000000u | (bits & 0x7FFFFF) | 1));
}

void* allocate_numbers(replay::Recorder& recorder, std::string name, std::size_t count, DType type, unsigned seed,
                       Numbers numbers) {
  auto const bytes = std::size_t(bytes_of(type));
  void* const seen = recorder.allocate(std::move(name), count * bytes, int(bytes), seed);
  char* const real = recorder.real(seen);
  for (std::size_t i = 0; i < count; ++i) {
    float const whole = float(std::uint8_t(real[i * bytes]) % 7 - 3);
    write_number(real + i * bytes, type, numbers == Numbers::whole ? whole : significand(i, seed));
  }
  return seen;
}

namespace {

constexpr double kSquare = 7. / 12;  // the mean of a significand's square

// The square of what tensor cores lose: they add what 16 indices of K contribute to the sum, and truncate what lies
// below 2^-22 of it. Truncations of one sum go the same way.
double truncated(double alpha, double K) {
  double const steps = std::ceil(K / 16), root_sum = 4 * (2. / 3 * std::pow(steps, 1.5) + std::sqrt(steps));
  return std::pow(0x1p-22 * alpha * kSquare * root_sum, 2);
}
// The mean square by which the result is rounded to its type, as a share of its own square.
double rounded_result(DType type) {
  double const half_ulp = type == bf16 ? 0x1p-8 : 0x1p-11;
  return half_ulp * half_ulp / 3;
}

}  // namespace

double error_bound(RoundedSum const& sum, std::int64_t elements) {
  constexpr double kUnit = 0x1p-24;  // largest relative rounding error; errors are uniform up to it
  double const K = double(sum.K),
               accumulation_length = sum.accumulation_length ? std::min(double(sum.accumulation_length), K) : K;
  double const gemm = double(sum.alpha) * sum.alpha * K * kSquare * kSquare;  // mean square of alpha * A B
  double const c = double(sum.beta) * sum.beta * kSquare;
  // An accumulation of n terms: the sum over j < n of j / 3; the same for the block sums. Then alpha and beta, rounded
  // twice.
  double const accumulated = K > 0 ? (accumulation_length + K / accumulation_length) / 6 : 0;
  double const in_fp32 = kUnit * kUnit * (gemm * (accumulated + 2. / 3) + c * 2 / 3);
  double const in_adder = sum.type != f32 || sum.truncates ? truncated(sum.alpha, K) : 0,
               in_type = sum.type != f32 ? (gemm + c) * rounded_result(sum.type) : 0;
  // Few elements may be off by more than their mean.
  return (2 + 4 / std::sqrt(double(elements))) * std::sqrt(in_fp32 + in_adder + in_type);
}

std::int64_t longest_accumulation(Compute compute) { return compute == Compute::fp32_blocked ? 1024 : 0; }

bool is_activated(float got, Activation activation, double x, DType type) {
  double const exact = activated(activation, x);
  float const expected = rounded(float(exact), type);
  if (got == expected || (std::isnan(got) && std::isnan(expected))) return true;
  double const ulp = type == f32   ? 0x1p-23 * std::abs(exact)
                     : type == f16 ? std::max(0x1p-10 * std::abs(exact), 0x1p-24)
                                   : 0x1p-7 * std::abs(exact);
  return activation > Activation::relu && std::abs(got - exact) <= 1e-6 * std::abs(x) + ulp;
}

double activated(Activation activation, double x) {
  switch (activation) {
    case Activation::relu:
      return x < 0 ? 0 : x;
    case Activation::gelu_tanh:
      return x / 2 * (1 + std::tanh(std::sqrt(2 / std::acos(-1)) * (x + .044715 * x * x * x)));
    case Activation::gelu_erf:
      return x / 2 * std::erfc(-x / std::sqrt(2));
    case Activation::silu:
      return x / (1 + std::exp(-x));
    default:
      return x;
  }
}

}  // namespace inlay::registry
