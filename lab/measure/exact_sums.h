// The error of a GEMM in f32 against sums in fp64, which are computed once for all results on the same operands.
#pragma once
#include "measure/cuda_handles.h"
#include "measure/gemm_data.h"

namespace inlay::lab {

class ExactSums {
 public:
  // Computes alpha A B and |alpha| |A| |B| for the operands of `p`: all elements, or, beyond 2e10 multiply-adds or 2^22
  // elements, those of evenly spread matrices, rows and columns.
  ExactSums(GemmArrays const& p, cudaStream_t stream);

  struct Errors {
    double rel_err;  // the Frobenius norm of the error, relative to that of the result
    double largest;  // |e| / (|A| |B|) of an element, at most; NaN if an element is NaN
  };
  // The errors of what D of `p` holds now. Synchronises the stream.
  Errors errors(cudaStream_t stream) const;

  // Evenly spread indices of each mode, the first and the last among them.
  struct Sample {
    std::int64_t matrices, rows, cols;
    std::int64_t elements() const { return matrices * rows * cols; }
  };

 private:
  GemmArrays p_;
  Sample sample_;
  DeviceMemory sums_;
};

}  // namespace inlay::lab
