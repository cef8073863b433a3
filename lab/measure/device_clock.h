// What the lab measures with kernels of its own: the clock at which the SMs run, which the CUDA 13 runtime does not report,
// and the host time of a launch.
#pragma once
#include <cuda_runtime_api.h>

namespace inlay::lab {

// Cycles of one SM per microsecond, counted over about 10 ms after the work of the stream. Synchronises the stream.
double clock_mhz(cudaStream_t stream);

// Launches a kernel that does nothing, with as many parameters as a typical kernel of the library.
void launch_nothing(cudaStream_t stream);

}  // namespace inlay::lab
