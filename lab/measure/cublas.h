// cuBLAS's transpose, geam with alpha = 1 and beta = 0, and its product in fp32.
#pragma once
#include "measure/contenders.h"
#include "measure/gemm_contenders.h"

namespace inlay::lab {

// Takes one matrix of 4-, 8- or 16-byte elements, as floats, doubles or complex doubles.
Launch geam(Case const& c);

// Without TF32: CUBLAS_PEDANTIC_MATH.
GemmLaunch sgemm(GemmCase const& c);

}  // namespace inlay::lab
