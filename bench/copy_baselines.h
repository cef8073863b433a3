// Other people's copies between layouts, from checkouts that the user names to CMake.
#pragma once
#include <cstdint>

#include "measure/copy_candidates.h"

namespace inlay::baselines {

// CCCL's cuda::experimental::copy of two mdspans: -DINLAY_BASELINES_CCCL=<a checkout of NVIDIA/cccl>. Takes the case as
// its user states it, in whole elements, without extents of 1.
lab::CopyCandidate cccl(lab::CopyCase const& c);

// One copy for elements of `Bytes` bytes, whose extents and strides, in elements, are of type `Index`. The slowest mode
// comes first.
template <int Bytes, class Index>
void cccl_copy(void* dst, void const* src, int rank, std::int64_t const* extents, std::int64_t const* dst_strides,
               std::int64_t const* src_strides, cudaStream_t stream);

}  // namespace inlay::baselines
