// Other people's GEMMs in fp32, from checkouts that the user names to CMake.
#pragma once
#include <vector>

#include "measure/gemm_candidates.h"

namespace inlay::baselines {

// https://github.com/salykova/sgemm.cu: -DINLAY_BASELINES_SGEMM_CU=<checkout>. Takes one packed matrix at nn.
std::vector<lab::GemmCandidate> salykova(lab::GemmCase const& c);

// CUTLASS's SIMT kernels for compute capability 8.0: -DINLAY_BASELINES_CUTLASS=<the folder that has cutlass/cutlass.h>.
// Take one matrix.
std::vector<lab::GemmCandidate> cutlass_simt(lab::GemmCase const& c);

}  // namespace inlay::baselines
