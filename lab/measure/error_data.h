// Fills the operands of a GEMM in f32 with a data set on which its error is measured.
#pragma once
#include "measure/gemm_data.h"
#include "results/error_data.h"

namespace inlay::lab {

// Every matrix of A and of B. Gaps between their elements are left alone.
void fill_error_data(GemmArrays const& p, ErrorData data, cudaStream_t stream);

}  // namespace inlay::lab
