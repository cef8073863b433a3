// The clock the GPU really runs at: CUDA 13 reports none.
#pragma once
#include <cuda_runtime_api.h>

namespace inlay::lab {

// Cycles of one SM per microsecond over about 10 ms, behind whatever the stream still has to do. Synchronises it.
double clock_mhz(cudaStream_t stream);

}  // namespace inlay::lab
