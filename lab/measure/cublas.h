// cuBLAS's transpose, geam with alpha = 1 and beta = 0, and its GEMMs with sums in fp32, none of them in TF32.
#pragma once
#include "measure/copy_candidates.h"
#include "measure/gemm_candidates.h"

namespace inlay::lab {
using enum DType;

// Takes one matrix of 4-, 8- or 16-byte elements, as floats, doubles or complex doubles.
CopyLaunch geam(CopyCase const& c);

// bf16 and f16 in pedantic math keep partial sums in fp32: CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION, and
// partial sums of cublasLt in the compute type.
enum class CublasMath { pedantic, standard };
GemmLaunch cublas_gemm(GemmCase const& c, CublasMath math);

// cublasLt with the fastest of the first 16 algorithms that its heuristics propose. They are timed here, on the
// operands of `call`, with as much workspace as cublas_gemm() has.
GemmLaunch cublas_lt(GemmCase const& c, GemmCall const& call, CublasMath math, cudaStream_t stream);

}  // namespace inlay::lab
