// Other people's products in fp32, from checkouts that the user names to CMake.
#pragma once
#include <vector>

#include "measure/gemm_contenders.h"

namespace inlay::peers {

// https://github.com/salykova/sgemm.cu: -DINLAY_PEERS_SGEMM_CU=<checkout>. Takes one packed matrix at nn.
std::vector<lab::GemmContender> salykova(lab::GemmCase const& c);

// CUTLASS's SIMT kernels for compute capability 8.0: -DINLAY_PEERS_CUTLASS=<the folder that has cutlass/cutlass.h>.
// Take one matrix.
std::vector<lab::GemmContender> cutlass_simt(lab::GemmCase const& c);

}  // namespace inlay::peers
