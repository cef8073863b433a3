// cuBLAS's transpose, geam with alpha = 1 and beta = 0, and its GEMMs in fp32, none of them in TF32.
#pragma once
#include "measure/copy_candidates.h"
#include "measure/gemm_candidates.h"

namespace inlay::lab {

// Takes one matrix of 4-, 8- or 16-byte elements, as floats, doubles or complex doubles.
CopyLaunch geam(TransposeCase const& c);

enum class CublasMath { pedantic, standard };
GemmLaunch sgemm(GemmCase const& c, CublasMath math);

// cublasLt with the fastest of the first 16 algorithms that its heuristics propose. They are timed here, on the operands of
// `call`, with as much workspace as sgemm() has.
GemmLaunch cublas_lt(GemmCase const& c, GemmCall const& call, cudaStream_t stream);

}  // namespace inlay::lab
