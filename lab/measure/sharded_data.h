// Contents by which a check sees where each element of a sharded tensor came from.
#pragma once
#include <cuda_runtime_api.h>

#include <cstdint>

namespace inlay::lab {

// A rank's part of a tensor of up to five modes; mode 0 is the slowest.
struct ShardedPart {
  static constexpr int kModes = 5;
  std::int64_t extent[kModes]{1, 1, 1, 1, 1};
  std::int64_t stride[kModes]{};                 // elements, in memory
  std::int64_t begin[kModes]{}, step[kModes]{};  // of the whole tensor's row-major index
  std::int64_t round = 0;                        // each has other contents
  int elem_bytes = 1;

  std::int64_t elements() const { return extent[0] * extent[1] * extent[2] * extent[3] * extent[4]; }
};

// Each element gets bytes that follow from its index in the whole tensor and the round.
void fill(ShardedPart const& part, void* data, cudaStream_t stream);
// Adds the number of elements with other bytes to *wrong, in device memory.
void count_wrong(ShardedPart const& part, void const* data, unsigned long long* wrong, cudaStream_t stream);

}  // namespace inlay::lab
