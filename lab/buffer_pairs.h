// Sources and destinations that are not in the L2 cache when a kernel comes to them.
#pragma once
#include "cases.h"
#include "cuda_handles.h"

namespace inlay::lab {

// Throws UsageError when the GPU has less free memory than `bytes`.
void require_memory(Case const& c, std::int64_t bytes);

// One pair when it is worth four L2s by itself, else so many, to be used in turn. Each buffer starts at a multiple of
// 256 bytes and has room for the case's base and pitch.
class BufferPairs {
 public:
  // Fills every source. Throws UsageError when the GPU has not enough free memory.
  BufferPairs(Case const& c, std::int64_t l2_bytes, cudaStream_t stream);

  int count() const { return count_; }
  void const* src(int k) const { return src_.get() + k * src_bytes_; }
  void* dst(int k) const { return dst_.get() + k * dst_bytes_; }

 private:
  std::int64_t src_bytes_, dst_bytes_;  // of one, padded
  int count_;
  DeviceMemory src_, dst_;
};

}  // namespace inlay::lab
