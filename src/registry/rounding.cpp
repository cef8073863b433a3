#include <inlay/registry/rounding.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace inlay::registry {

float significand(std::uint64_t index, unsigned seed) {
  std::uint64_t x = (index + (std::uint64_t(seed) << 40) + 1) * 0x9E3779B97F4A7C15u;
  x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
  x = (x ^ x >> 27) * 0x94D049BB133111EBu;
  auto const bits = std::uint32_t(x >> 40);  // 24: the sign and 23 of the significand
  return std::bit_cast<float>(std::uint32_t(bits >> 23 << 31 | 0x3F000000u | (bits & 0x7FFFFF) | 1));
}

void put_significands(replay::Recorder& recorder, float* seen, std::size_t count, unsigned seed) {
  char* const real = recorder.real(seen);
  for (std::size_t i = 0; i < count; ++i) {
    float const value = significand(i, seed);
    std::memcpy(real + i * sizeof value, &value, sizeof value);
  }
}

double error_bound(RoundedSum const& sum, std::int64_t elements) {
  constexpr double kUnit = 0x1p-24;    // largest relative rounding error; errors are uniform up to it
  constexpr double kSquare = 7. / 12;  // mean square of a significand
  double const K = double(sum.K),
               accumulation_length = sum.accumulation_length ? std::min(double(sum.accumulation_length), K) : K;
  double const gemm = double(sum.alpha) * sum.alpha * K * kSquare * kSquare;  // mean square of alpha * A B
  double const c = double(sum.beta) * sum.beta * kSquare;
  // An accumulation of n terms: the sum over j < n of j / 3; the same for the block sums. Then alpha and beta, rounded
  // twice.
  double const accumulated = K > 0 ? (accumulation_length + K / accumulation_length) / 6 : 0;
  double const square = gemm * (accumulated + 2. / 3) + c * 2 / 3;
  // With few elements, their mean may exceed the expected value.
  return (2 + 4 / std::sqrt(double(elements))) * kUnit * std::sqrt(square);
}

std::int64_t longest_accumulation(Compute compute) { return compute == Compute::fp32_blocked ? 1024 : 0; }

}  // namespace inlay::registry
