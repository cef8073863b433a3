#include "measure/gemm_data.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "measure/device_tally.h"

namespace inlay::lab {
namespace {

constexpr unsigned kSeedOfD = 3;

__device__ float value(Values values, unsigned seed, std::int64_t i) {
  std::uint64_t x = (std::uint64_t(i) ^ std::uint64_t(seed) << 48) * 0x9E3779B97F4A7C15u;
  x = (x ^ x >> 32) * 0xBF58476D1CE4E5B9u;
  x ^= x >> 29;
  unsigned const bits = unsigned(x >> 40);  // 24 of them
  if (values.range) return float(int(bits % unsigned(2 * values.range + 1)) - values.range);
  float const magnitude = float(1 << 23 | (bits & 0x7FFFFF) | 1) * (1.f / (1 << 24));
  return bits >> 23 ? -magnitude : magnitude;
}

// Element i of a buffer.
__device__ float number(void const* data, DType type, std::int64_t i) {
  if (type == bf16) return __bfloat162float(static_cast<__nv_bfloat16 const*>(data)[i]);
  if (type == f16) return __half2float(static_cast<__half const*>(data)[i]);
  return static_cast<float const*>(data)[i];
}
__device__ void put(void* data, DType type, std::int64_t i, float x) {
  if (type == bf16)
    static_cast<__nv_bfloat16*>(data)[i] = __float2bfloat16_rn(x);
  else if (type == f16)
    static_cast<__half*>(data)[i] = __float2half_rn(x);
  else
    static_cast<float*>(data)[i] = x;
}
__device__ float rounded(float x, DType type) {
  return type == bf16 ? __bfloat162float(__float2bfloat16_rn(x)) : type == f16 ? __half2float(__float2half_rn(x)) : x;
}
__device__ bool is_poisoned(void const* data, DType type, std::int64_t i) {
  return type == f32 ? is_poison(static_cast<std::uint32_t const*>(data)[i])
                     : is_poison(static_cast<std::uint16_t const*>(data)[i]);
}
__device__ void put_poison(void* data, DType type, std::int64_t i) {
  if (type == f32)
    static_cast<std::uint32_t*>(data)[i] = unsigned(kPoison) * 0x01010101u;
  else
    static_cast<std::uint16_t*>(data)[i] = std::uint16_t(unsigned(kPoison) * 0x0101u);
}

__device__ float not_a_number() { return __int_as_float(0x7fffffff); }

__global__ void fill_kernel(void* data, DType type, std::int64_t elements, Nested used, Values values, unsigned seed) {
  over_all(elements,
           [=](std::int64_t i) { put(data, type, i, used.holds(i) ? value(values, seed, i) : not_a_number()); });
}

__global__ void prepare_kernel(GemmArrays p, std::int64_t elements, Values values) {
  over_all(elements, [=](std::int64_t i) {
    if (p.d_at.holds(i))
      put(p.d, p.type_d, i, p.beta != 0 ? value(values, kSeedOfD, i) : not_a_number());
    else
      put_poison(p.d, p.type_d, i);
  });
}

__global__ void compare_kernel(GemmArrays p, std::int64_t elements, void const* expected, Tallies* tallies) {
  over_all(elements, [=](std::int64_t i) {
    if (!p.d_at.holds(i)) {
      if (!is_poisoned(p.d, p.type_d, i)) note(&tallies->stray, i);
      return;
    }
    float const got = number(p.d, p.type_d, i), wanted = number(expected, p.type_d, i);
    if (!(got == wanted || (expected != p.d && isnan(got) && isnan(wanted)))) note(&tallies->wrong, i);
  });
}

// The activation in fp64.
__device__ double activated(Activation activation, double x) {
  switch (activation) {
    case Activation::relu:
      return x < 0 ? 0 : x;
    case Activation::gelu_tanh:
      return x / 2 * (1 + tanh(0.7978845608028654 * (x + .044715 * x * x * x)));
    case Activation::gelu_erf:
      return x * normcdf(x);
    case Activation::silu:
      return x / (1 + exp(-x));
    default:
      return x;
  }
}
// Whether `got` is activation(x), rounded to the type. GELU and SiLU may be off by 1e-6 of x, and by an ulp of the
// type.
__device__ bool is_result(float got, double x, Activation activation, DType type) {
  double const expected = activated(activation, x);
  if (got == rounded(float(expected), type)) return true;
  double const ulp = type == bf16  ? 0x1p-7 * fabs(expected)
                     : type == f16 ? fmax(0x1p-10 * fabs(expected), 0x1p-24)
                                   : 0x1p-23 * fabs(expected);
  return activation > Activation::relu && fabs(double(got) - expected) <= 1e-6 * fabs(x) + ulp;
}

struct Sums {
  Tally wrong;
  double difference = 0, expected = 0;  // of squares
};

// The i-th of `count` evenly spread indices from 0 to extent - 1, which are among them.
__device__ std::int64_t sampled_index(std::int64_t i, std::int64_t count, std::int64_t extent) {
  return count > 1 ? i * (extent - 1) / (count - 1) : 0;
}

// A block computes one element at a time. Its threads share the sum over k.
__global__ void deviation_kernel(GemmArrays p, Values values, std::int64_t l, Sampled sampled, Sums* sums) {
  __shared__ double part[kThreads];
  for (std::int64_t s = blockIdx.x; s < sampled.rows * sampled.cols; s += gridDim.x) {
    std::int64_t const m = sampled_index(s / sampled.cols, sampled.rows, p.M),
                       n = sampled_index(s % sampled.cols, sampled.cols, p.N);
    std::int64_t const a = l * p.a_l + m * p.a_m, b = l * p.b_l + n * p.b_n;
    double sum = 0;
    for (std::int64_t k = threadIdx.x; k < p.K; k += kThreads)
      sum += double(number(p.a, p.type, a + k * p.a_k)) * double(number(p.b, p.type, b + k * p.b_k));
    part[threadIdx.x] = sum;
    __syncthreads();
    for (unsigned half = kThreads / 2; half; half /= 2) {
      if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
      __syncthreads();
    }
    if (threadIdx.x == 0) {
      std::int64_t const at = p.d_first + l * p.d_l + m * p.d_m + n * p.d_n;
      double x = double(p.alpha) * part[0];
      if (p.beta != 0)
        x += double(p.beta) * double(p.c ? number(p.c, p.type_d, l * p.c_l + m * p.c_m + n * p.c_n)
                                         : rounded(value(values, kSeedOfD, at), p.type_d));
      double const expected = activated(p.activation, x);
      float const got = number(p.d, p.type_d, at);
      double const difference = double(got) - expected;
      if (!is_result(got, x, p.activation, p.type_d)) note(&sums->wrong, at);
      atomicAdd(&sums->difference, difference * difference);
      atomicAdd(&sums->expected, expected * expected);
    }
    __syncthreads();  // before the next sum overwrites the partial sums
  }
}

}  // namespace

Nested Nested::of(std::array<std::pair<std::int64_t, std::int64_t>, kModes> modes) {
  for (auto& [extent, stride] : modes)
    if (extent == 1 || stride == 0) extent = 1, stride = std::numeric_limits<std::int64_t>::max();
  std::sort(modes.begin(), modes.end(), [](auto const& x, auto const& y) { return x.second > y.second; });
  Nested n{};
  for (std::size_t k = 0; k < kModes; ++k) n.extent[k] = modes[k].first, n.stride[k] = modes[k].second;
  return n;
}

void fill_values(void* data, DType type, std::int64_t elements, Nested const& used, Values values, unsigned seed,
                 cudaStream_t stream) {
  fill_kernel<<<kBlocks, kThreads, 0, stream>>>(data, type, elements, used, values, seed);
  check(cudaGetLastError());
}

void prepare_d(GemmArrays const& p, Values values, cudaStream_t stream) {
  prepare_kernel<<<kBlocks, kThreads, 0, stream>>>(p, p.d_elements, values);
  check(cudaGetLastError());
}

Checked compare_d(std::vector<GemmArrays> const& gemms, void const* expected, cudaStream_t stream) {
  return tallied(stream, [&](Tallies* tallies) {
    for (GemmArrays const& p : gemms)
      compare_kernel<<<kBlocks, kThreads, 0, stream>>>(p, p.d_elements, expected, tallies);
  });
}

Sampled sample_of(GemmArrays const& p) {
  constexpr std::int64_t kSide = 64, kEnough = kSide * kSide;
  auto const other = [](std::int64_t extent, std::int64_t count) {
    return std::min(extent, (kEnough + count - 1) / count);
  };
  std::int64_t const cols = other(p.N, std::min(p.M, kSide));
  return {other(p.M, cols), cols};
}

Deviation deviation(GemmArrays const& p, Values values, std::int64_t l, Sampled sampled, cudaStream_t stream) {
  Sums const sums = filled_in(Sums{}, stream, [&](Sums* there) {
    deviation_kernel<<<kBlocks, kThreads, 0, stream>>>(p, values, l, sampled, there);
  });
  double const norm = sums.expected > 0 ? sums.expected : 1;
  return {{std::int64_t(sums.wrong.count), std::int64_t(sums.wrong.first)},
          std::sqrt(sums.difference / norm),
          std::sqrt(sums.difference / double(sampled.rows * sampled.cols))};
}

}  // namespace inlay::lab
