// Test data for GEMMs on the device, and checks of their results. Without CuTe, so that checks share no code with
// kernels.
#pragma once
#include <inlay/types.h>

#include <array>
#include <utility>

#include "measure/device_data.h"

namespace inlay::lab {
using enum DType;

// The elements of a buffer that belong to nested modes: the largest stride first, each at least as large as the span of
// the modes after it.
struct Nested {
  static constexpr int kModes = 4;
  std::int64_t extent[kModes], stride[kModes];

  // Modes of extent 1 or stride 0 are dropped.
  static Nested of(std::array<std::pair<std::int64_t, std::int64_t>, kModes> modes);  // extents and strides
#ifdef __CUDACC__
  __device__ bool holds(std::int64_t i) const {
    for (int k = 0; k < kModes; ++k) {
      if (i / stride[k] >= extent[k]) return false;
      i %= stride[k];
    }
    return i == 0;
  }
#endif
};

// A GEMM for the checks: D = activation(alpha A B + beta C). Strides are in elements.
struct GemmArrays {
  std::int64_t M, N, K, batch;
  float alpha, beta;
  Activation activation;
  DType type, type_d;     // of A and B; of C and D
  void const *a, *b, *c;  // addresses of the first elements; c null: what D holds before the launch
  std::int64_t a_m, a_k, a_l, b_k, b_n, b_l, c_m, c_n, c_l;
  void* d;  // start of D's buffer
  std::int64_t d_m, d_n, d_l;
  std::int64_t d_first;     // index of D's first element in its buffer
  std::int64_t d_elements;  // of the buffer, with its gaps
  Nested d_at;
};

// Values derived from their index: whole numbers from -range to range, or, for range 0, significands: numbers of either
// sign between 1/2 and 1 with random mantissa bits.
struct Values {
  int range = 0;
};
// Fills the used elements of a buffer with values, and its gaps with NaN, so that a kernel that uses a gap gives a
// wrong result.
void fill_values(void* data, DType type, std::int64_t elements, Nested const& used, Values values, unsigned seed,
                 cudaStream_t stream);

// Fills D's buffer before a launch: values if beta is not 0, otherwise NaN; poison in the gaps.
void prepare_d(GemmArrays const& p, Values values, cudaStream_t stream);

// Compares each D with `expected`, which has the same layout, and its gaps with poison. 0 equals -0. NaN equals an
// expected NaN, unless D is compared with itself. Synchronises the stream.
Checked compare_d(std::vector<GemmArrays> const& gemms, void const* expected, cudaStream_t stream);

// A sample of one matrix of D: rows x cols elements, evenly spread, with the corners; at least 4096 elements, or all.
struct Sampled {
  std::int64_t rows, cols;
};
Sampled sample_of(GemmArrays const& p);

// The deviation of D from sums in fp64, after prepare_d() with the same values and one launch.
struct Deviation {
  // Elements that are not the exact result, rounded to the type, and the first one's index in D's buffer. GELU and SiLU
  // may be off by what inlay/types.h allows and an ulp.
  Wrong wrong;
  double rel_err;  // the Frobenius norm of the error, relative to that of the result
  double error;    // root mean square of the error of an element
};
// For matrix `l` of the batch. Synchronises the stream.
Deviation deviation(GemmArrays const& p, Values values, std::int64_t l, Sampled sampled, cudaStream_t stream);

}  // namespace inlay::lab
