#include "measure/error_data.h"

#include "measure/device_tally.h"

namespace inlay::lab {
namespace {

// An operand of a GEMM: rows of A or columns of B, with K elements each. Strides are in elements.
struct Filled {
  float* elements;
  std::int64_t matrices, rows, K;
  std::int64_t matrix_stride, row_stride, k_stride;
  std::uint64_t seed;
  bool is_B;
};

__device__ float uniform(std::uint64_t x) {  // in (0,1)
  x = (x + 0x9E3779B97F4A7C15u) * 0xBF58476D1CE4E5B9u;
  x = (x ^ x >> 31) * 0x94D049BB133111EBu;
  x ^= x >> 29, x *= 0xBF58476D1CE4E5B9u;
  return (float(x >> 41) + .5f) * 0x1p-23f;
}
__device__ float normal(std::uint64_t i) { return sqrtf(-2 * logf(uniform(2 * i))) * cospif(2 * uniform(2 * i + 1)); }

// One of `count` whole numbers from `first` on.
__device__ int whole(std::uint64_t x, int first, int count) { return int(floorf(uniform(x) * float(count))) + first; }

// A number between 1 and 2, or between -2 and -1, times 2^exponent. at: an index into the random numbers.
__device__ float scaled(std::uint64_t at, int exponent) {
  return ldexpf(copysignf(1 + uniform(at + 7), normal(at)), exponent);
}

// Element k of a row of the discrete cosine transform of K elements. The phase is reduced in whole numbers.
__device__ float cosine(std::int64_t row, std::int64_t k, std::int64_t K) {
  std::int64_t const frequency = row % K;
  double const phase = double((2 * k + 1) * frequency % (4 * K)) / double(2 * K);
  return float(sqrt((frequency ? 2. : 1.) / double(K)) * cospi(phase));
}

// Element i = row K + k of the operand; `row` counts through all matrices, `row_of_matrix` in one.
__device__ float element(ErrorData data, Filled const& x, std::int64_t i) {
  std::int64_t const k = i % x.K, row = i / x.K, row_of_matrix = row % x.rows;
  std::uint64_t const at = x.seed * 0x100000001ull * 977 + std::uint64_t(i),
                      of_row = x.seed * 7919 + std::uint64_t(row);
  switch (data) {
    case ErrorData::normal:
      return normal(at);
    case ErrorData::uniform:
      return uniform(at);
    case ErrorData::wide:
      return scaled(at, whole(at, -10, 21));
    case ErrorData::scaled_rows:
      return ldexpf(normal(at), whole(of_row, -20, 41));
    case ErrorData::outliers:
      return ldexpf(normal(at), k == (row_of_matrix * 37 + std::int64_t(x.seed) * 11) % x.K ? 30 : 0);
    case ErrorData::sparse:
      return uniform(at + 13) > .125f ? 0 : normal(at);
    case ErrorData::hilbert:
      return 1 / float(row_of_matrix + k + 1);
    case ErrorData::orthogonal:
      return copysignf(1, uniform(of_row) - .5f) * cosine(row_of_matrix, k, x.K);
    case ErrorData::decaying:
      return normal(at) * exp2f(-20 * float(k) / float(x.K));
    case ErrorData::spikes:
      return i % 97 == 0 ? 0x1p18f : float(whole(at, -3, 7));
    case ErrorData::denormals:
      return x.is_B ? ldexpf(normal(at), 60) : scaled(at, whole(at, -140, 20));
    case ErrorData::huge_column:
      return ldexpf(normal(at), k == x.K / 3 ? 24 : 0);
  }
  return 0;
}

__global__ void fill_kernel(ErrorData data, Filled x) {
  over_all(x.matrices * x.rows * x.K, [=](std::int64_t i) {
    std::int64_t const k = i % x.K, row = i / x.K;
    x.elements[row / x.rows * x.matrix_stride + row % x.rows * x.row_stride + k * x.k_stride] = element(data, x, i);
  });
}

}  // namespace

void fill_error_data(GemmArrays const& p, ErrorData data, cudaStream_t stream) {
  auto const fill = [&](void const* elements, std::int64_t rows, std::int64_t matrix_stride, std::int64_t row_stride,
                        std::int64_t k_stride, bool is_B) {
    // A matrix that the whole batch uses is filled once.
    Filled const x{static_cast<float*>(const_cast<void*>(elements)),
                   matrix_stride ? p.batch : 1,
                   rows,
                   p.K,
                   matrix_stride,
                   row_stride,
                   k_stride,
                   is_B ? 2u : 1u,
                   is_B};
    fill_kernel<<<kBlocks, kThreads, 0, stream>>>(data, x);
    check(cudaGetLastError());
  };
  fill(p.a, p.M, p.a_l, p.a_m, p.a_k, false);
  fill(p.b, p.N, p.b_l, p.b_n, p.b_k, true);
}

}  // namespace inlay::lab
