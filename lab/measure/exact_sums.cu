#include "measure/exact_sums.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "measure/device_tally.h"

namespace inlay::lab {
namespace {

constexpr double kMostOperations = 2e10, kMostElements = 1 << 22;
constexpr int kSide = 16;   // of a tile of elements, one for each thread of a block
constexpr int kDepth = 64;  // along k, of what is in shared memory
static_assert(kSide * kSide == kThreads);

using Sample = ExactSums::Sample;

// An element of alpha A B, and of |alpha| |A| |B|.
struct Sum {
  double exact, size;
};

// The i-th of `count` evenly spread indices from 0 to extent - 1, which are among them.
__device__ std::int64_t spread_index(std::int64_t i, std::int64_t count, std::int64_t extent) {
  return count > 1 ? i * (extent - 1) / (count - 1) : 0;
}

// Loads a row of A or a column of B, `from` k on, by kSide threads of which this one is the x-th; zeros from K on.
__device__ void load(float* to, float const* row, std::int64_t stride, std::int64_t from, std::int64_t K, int x) {
  for (int i = x; i < kDepth; i += kSide) to[i] = from + i < K ? row[(from + i) * stride] : 0;
}

// A block computes a tile at a time.
__global__ void sum_kernel(GemmArrays p, Sample sample, Sum* sums) {
  __shared__ float a[kSide][kDepth + 1], b[kSide][kDepth + 1];
  int const x = int(threadIdx.x) % kSide, y = int(threadIdx.x) / kSide;
  std::int64_t const tiles_m = (sample.rows + kSide - 1) / kSide, tiles_n = (sample.cols + kSide - 1) / kSide;
  for (std::int64_t tile = blockIdx.x; tile < sample.matrices * tiles_m * tiles_n; tile += gridDim.x) {
    std::int64_t const matrix = tile / (tiles_m * tiles_n), row = tile / tiles_n % tiles_m * kSide,
                       col = tile % tiles_n * kSide, l = spread_index(matrix, sample.matrices, p.batch);
    auto const of = [&](void const* data, std::int64_t matrix_stride, std::int64_t at, std::int64_t stride) {
      return static_cast<float const*>(data) + l * matrix_stride + at * stride;
    };
    // Beyond the sample, rows and columns are those of its end, and their sums are not stored.
    auto const index = [&](std::int64_t i, std::int64_t count, std::int64_t extent) {
      return spread_index(i < count ? i : count - 1, count, extent);
    };
    float const* const row_of_a = of(p.a, p.a_l, index(row + y, sample.rows, p.M), p.a_m);
    float const* const col_of_b = of(p.b, p.b_l, index(col + y, sample.cols, p.N), p.b_n);
    Sum sum{};
    for (std::int64_t k = 0; k < p.K; k += kDepth) {
      load(a[y], row_of_a, p.a_k, k, p.K, x), load(b[y], col_of_b, p.b_k, k, p.K, x);
      __syncthreads();
      for (int i = 0; i < kDepth; ++i) {
        double const term = double(a[y][i]) * double(b[x][i]);
        sum.exact += term, sum.size += fabs(term);
      }
      __syncthreads();
    }
    if (row + y < sample.rows && col + x < sample.cols)
      sums[(matrix * sample.rows + row + y) * sample.cols + col + x] = {double(p.alpha) * sum.exact,
                                                                        fabs(double(p.alpha)) * sum.size};
  }
}

struct Totals {
  double error = 0, exact = 0;  // sums of squares
  Index largest = 0;            // the bits of the largest |e| / size: those of NaN exceed those of infinity
};

__global__ void compare_kernel(GemmArrays p, Sample sample, Sum const* sums, Totals* totals) {
  Totals mine;
  over_all(sample.matrices * sample.rows * sample.cols, [&](std::int64_t i) {
    std::int64_t const l = spread_index(i / sample.cols / sample.rows, sample.matrices, p.batch),
                       m = spread_index(i / sample.cols % sample.rows, sample.rows, p.M),
                       n = spread_index(i % sample.cols, sample.cols, p.N);
    auto const [exact, size] = sums[i];
    double const error = fabs(double(static_cast<float const*>(p.d)[l * p.d_l + m * p.d_m + n * p.d_n]) - exact);
    double const share = error == 0 ? 0 : error / size;
    mine.error += error * error, mine.exact += exact * exact;
    mine.largest = max(mine.largest, Index(__double_as_longlong(fabs(share))));
  });
  atomicAdd(&totals->error, mine.error), atomicAdd(&totals->exact, mine.exact);
  atomicMax(&totals->largest, mine.largest);
}

Sample sample_of_batch(GemmArrays const& p) {
  auto const most = std::int64_t(std::max(1., std::min(kMostElements, kMostOperations / double(p.K))));
  auto const up_to = [](std::int64_t extent, std::int64_t count) { return std::clamp<std::int64_t>(count, 1, extent); };
  std::int64_t rows = up_to(p.M, std::int64_t(std::sqrt(double(most))));
  std::int64_t const cols = up_to(p.N, most / rows);
  rows = up_to(p.M, most / cols);
  return {up_to(p.batch, most / (rows * cols)), rows, cols};
}

}  // namespace

ExactSums::ExactSums(GemmArrays const& p, cudaStream_t stream)
    : p_(p), sample_(sample_of_batch(p)), sums_(device_memory(std::size_t(sample_.elements()) * sizeof(Sum))) {
  sum_kernel<<<kBlocks, kThreads, 0, stream>>>(p_, sample_, reinterpret_cast<Sum*>(sums_.get()));
  check(cudaGetLastError());
}

ExactSums::Errors ExactSums::errors(cudaStream_t stream) const {
  Totals const totals = filled_in(Totals{}, stream, [&](Totals* there) {
    compare_kernel<<<kBlocks, kThreads, 0, stream>>>(p_, sample_, reinterpret_cast<Sum const*>(sums_.get()), there);
  });
  double largest;
  static_assert(sizeof largest == sizeof totals.largest);
  std::memcpy(&largest, &totals.largest, sizeof largest);
  return {totals.error == 0 ? 0 : std::sqrt(totals.error / totals.exact), largest};
}

}  // namespace inlay::lab
