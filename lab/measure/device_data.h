// Test data on the device, filled in and checked there. No CuTe: what checks the kernels shares nothing with them.
#pragma once
#include <cuda_runtime_api.h>

#include <cstdint>
#include <vector>

namespace inlay::lab {

// Element i gets a bit pattern made from i. Patterns of 4, 8 and 16 bytes are normal floats, doubles and complex
// doubles, so that arithmetic baselines move them unchanged, and distinct for i < 2^31 (4 bytes) and i < 2^52 (8, 16).
void fill(void* data, int elem_bytes, std::int64_t elements, cudaStream_t stream);

// What belongs where, in elements from the starts of two buffers. The destination is a batch of (outer, inner) matrices
// with the modes (l, j, i) and is packed but for its pitch. Element dst_base + (l * outer + j) * dst_pitch + i of the
// destination comes from element src_base + l * src_batch + j * src_outer + i * src_inner of the source.
struct Placement {
  std::int64_t batch, outer, inner;
  std::int64_t dst_base, dst_pitch;
  std::int64_t src_base, src_batch, src_outer, src_inner;

  std::int64_t elements() const { return batch * outer * inner; }
  std::int64_t dst_elements() const { return dst_base + batch * outer * dst_pitch; }  // base and gaps included
};

struct Wrong {
  std::int64_t count, first;  // first: the lowest wrong index in the buffer, if count > 0
};
struct Checked {
  Wrong wrong;  // elements that are not what fill() wrote in the source
  Wrong stray;  // elements before the base or in a gap between rows that are no longer poison
};
// Compares bitwise, every element of the destinations' buffers, all of which take the same. Synchronises the stream.
Checked check_placement(std::vector<void const*> const& dsts, int elem_bytes, Placement const& placement,
                        cudaStream_t stream);

// Which bytes belong where, of elements of any layout: `bytes` of each, strides in bytes, bases from the starts of two
// buffers to the first element. The source's buffer was filled as elements of 4 bytes.
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
// Compares every byte of every element; then poisons it, so that what else has changed in the buffers stands out: strays.
// Synchronises the stream.
Checked check_strided(std::vector<void*> const& dsts, Strided const& layout, std::int64_t buffer_bytes,
                      cudaStream_t stream);

// Destinations are filled with this byte before a check, guard bands around them too.
inline constexpr int kPoison = 0xA5;
// The bytes that are not kPoison. Synchronises the stream.
Wrong count_unpoisoned(void const* data, std::int64_t bytes, cudaStream_t stream);

}  // namespace inlay::lab
