// The clock at which the SMs run. The CUDA 13 runtime does not report it.
#pragma once
#include <cuda_runtime_api.h>

namespace inlay::lab {

// Cycles of one SM per microsecond, counted over about 10 ms after the work of the stream. Synchronises the stream.
double clock_mhz(cudaStream_t stream);

}  // namespace inlay::lab
