// Test data on the device, filled in and checked there. No CuTe: what checks the kernels shares nothing with them.
#pragma once
#include <cuda_runtime_api.h>

#include <cstdint>

namespace inlay::lab {

// Element i gets a bit pattern made from i. Patterns of 4, 8 and 16 bytes are normal floats, doubles and complex
// doubles, so that arithmetic baselines move them unchanged, and distinct for i < 2^31 (4 bytes) and i < 2^52 (8, 16).
void fill(void* data, int elem_bytes, std::int64_t elements, cudaStream_t stream);

// Which source element belongs at destination element i, of a contiguous batch of (outer, inner) matrices:
// batch_stride * (i / inner / outer) + outer_stride * (i / inner % outer) + inner_stride * (i % inner).
struct SourceOrder {
  std::int64_t inner, outer, inner_stride, outer_stride, batch_stride;
};

struct Wrong {
  std::int64_t count, first;  // first: the lowest wrong destination index, if count > 0
};
// Compares bitwise with what fill() wrote. Synchronises the stream.
Wrong count_wrong(void const* dst, int elem_bytes, std::int64_t elements, SourceOrder order, cudaStream_t stream);

// Destinations are filled with this byte before a check, guard bands around them too.
inline constexpr int kPoison = 0xA5;
// The bytes that are not kPoison. Synchronises the stream.
Wrong count_unpoisoned(void const* data, std::int64_t bytes, cudaStream_t stream);

}  // namespace inlay::lab
