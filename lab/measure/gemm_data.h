// Test data for products on the device, and what they must give. No CuTe: what checks the kernels shares nothing with
// them.
#pragma once
#include "measure/device_data.h"

namespace inlay::lab {

// One multiplication, as the checks see it. Strides are in elements. C is a batch of row-major matrices, packed but for
// its pitch.
struct Product {
  std::int64_t M, N, K, batch;
  float alpha, beta;
  float const *a, *b;
  std::int64_t a_m, a_k, a_l, b_k, b_n, b_l;
  float* c;
  std::int64_t ldc;

  std::int64_t c_elements() const { return batch * M * ldc; }  // the gaps between rows included
};

// Values that are made from their index: whole numbers in -range .. range, or, for range 0, significands: of either sign,
// 1/2 to 1, with all 24 bits in use.
struct Values {
  int range = 0;
};
// Rows of `cols` values, `pitch` elements apart. Between them stands NaN: what is read there must not matter.
void fill_values(float* data, std::int64_t rows, std::int64_t cols, std::int64_t pitch, Values values, unsigned seed,
                 cudaStream_t stream);

// C as a multiplication must find it: values where beta has it read, else NaN; poison between the rows.
void prepare_c(Product const& p, Values values, cudaStream_t stream);

// Each C must equal `expected` (0 and -0 are the same; a NaN equals one that is expected, but for a C beside itself), which has its pitch, and be poison between the rows. Synchronises
// the stream.
Checked compare_c(std::vector<Product> const& products, float const* expected, cudaStream_t stream);

// Elements of one matrix of C, spread over it from corner to corner: at least 4096, or all.
struct Sampled {
  std::int64_t rows, cols;
};
Sampled sample_of(Product const& p);

// Held against sums in fp64. C was made by prepare_c() with these values, and multiplied once.
struct Deviation {
  Wrong wrong;     // elements that are not exactly what they should be, and the first one's index in C
  double rel_err;  // in Frobenius' norm
  double error;    // of an element: the root of the mean square
};
// Matrix `l` of the batch. Synchronises the stream.
Deviation deviation(Product const& p, Values values, std::int64_t l, Sampled sampled, cudaStream_t stream);

}  // namespace inlay::lab
