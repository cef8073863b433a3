// Test data on the device, filled in and checked there. No CuTe: what checks the kernels shares nothing with them.
#pragma once
#include <cuda_runtime_api.h>

#include <cstdint>
#include <vector>

namespace inlay::lab {

// Word i gets a bit pattern made from i: a normal float, or half of a normal double, so that arithmetic baselines copy
// it unchanged; distinct for i < 2^31.
void fill(void* data, std::int64_t words, cudaStream_t stream);

struct Wrong {
  std::int64_t count, first;  // first: the lowest wrong index in the buffer, if count > 0
};
struct Checked {
  Wrong wrong;  // elements that differ from what fill() wrote to the source
  Wrong stray;  // bytes of the destination beside its elements that are no longer poison
};
// A strided copy between two buffers: `bytes` of an element, strides in bytes, and bases in bytes from the starts of
// the buffers to the first element.
struct Strided {
  static constexpr int kMaxRank = 65;
  int bytes, rank;
  std::int64_t extent[kMaxRank], src[kMaxRank], dst[kMaxRank];
  std::int64_t src_base, dst_base;

  std::int64_t elements() const {
    std::int64_t n = 1;
    for (int k = 0; k < rank; ++k) n *= extent[k];
    return n;
  }
};
// Compares every byte of every element with what fill() wrote to the source, and poisons it. Bytes that are no poison
// after that are stray writes. Synchronises the stream.
Checked check_strided(std::vector<void*> const& dsts, Strided const& layout, std::int64_t buffer_bytes,
                      cudaStream_t stream);

// The byte that fills destinations and their guard bands before a check.
inline constexpr int kPoison = 0xA5;
// Counts the bytes that are not kPoison. Synchronises the stream.
Wrong count_unpoisoned(void const* data, std::int64_t bytes, cudaStream_t stream);

}  // namespace inlay::lab
