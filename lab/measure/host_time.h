// What a call costs the host before the GPU has it.
#pragma once
#include <cuda_runtime_api.h>

#include "problems/problems.h"

namespace inlay::lab {

struct HostTime {
  double call_us, bare_us;  // medians: the public function; the launches alone that the planner picks
  int calls;                // of each
};

// 10^4 calls of each in turn, fewer where the GPU needs more than a second for them. Both must have run without error.
HostTime host_time(Problem const& problem, cudaStream_t stream);

}  // namespace inlay::lab
