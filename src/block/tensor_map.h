// TMA descriptors. A kernel's make() describes a tensor as a TmaTensor; an encoder makes a CUtensorMap (128 bytes) of
// it; then its address can be replaced.
#pragma once
#include <cuda.h>

#include <cstdint>

namespace inlay::block {

// A tensor of rank 3, contiguous mode first, and the box that one TMA operation copies. The base address, the strides
// and the bytes of a box row are multiples of 16. A box has at most 256 elements in each mode.
struct TmaTensor {
  void const* base;
  int elem_bytes;          // 1, 2, 4 or 8; kernels describe elements of 16 bytes as two of 8
  std::int64_t extent[3];  // elements
  std::int64_t stride[2];  // bytes, of modes 1 and 2
  int box[3];              // elements
  // CU_TENSOR_MAP_SWIZZLE_128B: in shared memory, the index of a 16-byte chunk in its row is xored with the row index
  // modulo 8. This is CuTe's Swizzle<3,4,3> of byte offsets. A row of the box must have 128 bytes, and the
  // shared-memory address of the box must be a multiple of 1024.
  bool swizzle_128b = false;
};

// Encodes with cuTensorMapEncodeTiled. The function is obtained through the CUDA runtime, so that libcuda is not
// linked. The replay has an encoder of its own.
struct DriverEncoder {
  CUtensorMap operator()(TmaTensor const& tensor) const;  // throws Error if the driver rejects the tensor
  static void replace_address(CUtensorMap& map, void const* address);
};

}  // namespace inlay::block
