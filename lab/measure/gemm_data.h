// Test data for GEMMs on the device, and what they must give. No CuTe: what checks the kernels shares nothing with
// them.
#pragma once
#include <inlay/types.h>

#include <array>
#include <utility>

#include "measure/device_data.h"

namespace inlay::lab {

// Which elements of a buffer are those of three nested modes: the widest stride first, and each at least what the modes
// behind it span.
struct Nested {
  std::int64_t extent[3], stride[3];

  // Modes of one index, and those whose indices are all one, are at no place of their own.
  static Nested of(std::array<std::pair<std::int64_t, std::int64_t>, 3> modes);  // extents and strides
#ifdef __CUDACC__
  __device__ bool holds(std::int64_t i) const {
    for (int k = 0; k < 3; ++k) {
      if (i / stride[k] >= extent[k]) return false;
      i %= stride[k];
    }
    return i == 0;
  }
#endif
};

// One multiplication, as the checks see it. Strides are in elements.
struct GemmArrays {
  std::int64_t M, N, K, batch;
  float alpha, beta;
  DType type;
  void const *a, *b;
  std::int64_t a_m, a_k, a_l, b_k, b_n, b_l;
  void* c;
  std::int64_t c_m, c_n, c_l;
  std::int64_t c_elements;  // of its buffer, the gaps included
  Nested c_at;
};

// Values that are made from their index: whole numbers in -range .. range, or, for range 0, significands: of either sign,
// 1/2 to 1, with all bits of the type in use.
struct Values {
  int range = 0;
};
// Values where a buffer is used. Elsewhere stands NaN: what is read there must not matter.
void fill_values(void* data, DType type, std::int64_t elements, Nested const& used, Values values, unsigned seed,
                 cudaStream_t stream);

// C as a multiplication must find it: values where beta has it read, else NaN; poison in the gaps.
void prepare_c(GemmArrays const& p, Values values, cudaStream_t stream);

// Each C must equal `expected` (0 and -0 are the same; a NaN equals one that is expected, but for a C beside itself), which lies as it does, and be poison in the gaps. Synchronises
// the stream.
Checked compare_c(std::vector<GemmArrays> const& gemms, void const* expected, cudaStream_t stream);

// Elements of one matrix of C, spread over it from corner to corner: at least 4096, or all.
struct Sampled {
  std::int64_t rows, cols;
};
Sampled sample_of(GemmArrays const& p);

// Held against sums in fp64. C was made by prepare_c() with these values, and multiplied once.
struct Deviation {
  Wrong wrong;     // elements that are not the exact sum, rounded to the type, and the first one's index in C
  double rel_err;  // in Frobenius' norm
  double error;    // of an element: the root of the mean square
};
// Matrix `l` of the batch. Synchronises the stream.
Deviation deviation(GemmArrays const& p, Values values, std::int64_t l, Sampled sampled, cudaStream_t stream);

}  // namespace inlay::lab
