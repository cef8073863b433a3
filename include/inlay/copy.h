// Moving tensors between layouts. Views in, nothing out: no allocation, no synchronisation; the launch goes to `stream`
// of the current device. Safe to call from many threads; the result is bitwise the source, every time.
#pragma once
#include <inlay/plan.h>
#include <inlay/tensor.h>

namespace inlay {

// dst(..., j, i) = src(..., i, j): dst has the source's shape with the last two modes exchanged.
// Rank 2, or 3 for a batch. Elements of 1, 2, 4, 8 or 16 bytes; row-major views of any pitch (the last mode contiguous);
// bases are multiples of the element size; extents may be 0 and 1.
// Throws Error, before anything is launched, for: different shapes or element sizes, unsupported element sizes, null
// pointers with elements, misaligned bases, overlapping views, pointers that the current device does not own, a stream of
// another device, and strides that no variant handles. While `stream` is captured, pointers that CUDA does not know are
// taken for memory of the graph.
void transpose(Tensor const& dst, ConstTensor const& src, cudaStream_t stream = nullptr);

// The plan by which dst(i) = src(i) for two views of one shape, on the current device; of a transpose, with the source's
// transposed view. Launches nothing. Throws as transpose(), but for pointers that the device does not own: a run does.
Plan plan(Tensor const& dst, ConstTensor const& src);

}  // namespace inlay
