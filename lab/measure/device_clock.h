// What the lab measures with kernels of its own: the clock at which the SMs run, which the CUDA 13 runtime does not
// report, and the host time of a launch.
#pragma once
#include "measure/cuda_handles.h"

namespace inlay::lab {

// Cycles of one SM per microsecond, counted over about 10 ms after the work of the stream. Synchronises the stream.
double clock_mhz(cudaStream_t stream);

// The mean SM clock between two points of a stream, while other kernels run. At both points a kernel of a few
// microseconds stores the cycle counter of each SM.
class ClockMeter {
 public:
  ClockMeter();
  void begin(cudaStream_t stream);
  // Cycles of an SM per microsecond since begin(): the median of the SMs; 0: unknown. Synchronises the stream.
  double end(cudaStream_t stream);

 private:
  DeviceMemory stamps_;  // of all SMs at the first point, then at the second
};

// Launches a kernel that does nothing, with as many parameters as a typical kernel of the library.
void launch_nothing(cudaStream_t stream);

}  // namespace inlay::lab
