// TMA descriptors. A kernel's make() describes its tensors; an encoder makes the opaque 128 bytes.
#pragma once
#include <cuda.h>

#include <cstdint>

namespace inlay::block {

// A tensor as TMA sees it, contiguous mode first. Bases and strides are multiples of 16 bytes, a row of a box is too;
// a box edge has at most 256 elements.
struct TmaTensor {
  void const* base;
  int elem_bytes;          // 1, 2, 4 or 8; kernels describe elements of 16 bytes as two of 8
  std::int64_t extent[3];  // elements
  std::int64_t stride[2];  // bytes, of modes 1 and 2
  int box[3];              // elements
  // In shared memory, the 16-byte chunks of a 128-byte row are xored with the row's number modulo 8: as CuTe's
  // Swizzle<3,4,3> on bytes. Rows of the box must be 128 bytes, its place in shared memory a multiple of 1024.
  bool swizzle_128b = false;
};

// The driver's encoder. libcuda is never linked: its one function comes from the runtime. The replay has its own.
struct DriverEncoder {
  CUtensorMap operator()(TmaTensor const& tensor) const;  // throws Error when the driver refuses
};

}  // namespace inlay::block
