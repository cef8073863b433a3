// Moving tensors between layouts. Views in, nothing out: no allocation, no synchronisation; the launch goes to `stream`
// of the current device. Safe to call from many threads; the result is bitwise the source, every time.
#pragma once
#include <inlay/plan.h>
#include <inlay/tensor.h>

namespace inlay {

// dst(i) = src(i) for two views of one shape. Rank 0 to 64, extents and strides of 64 bits: strides of the source may be 0
// (repeated) and negative (backwards), those of the destination negative; it must not overlap itself. Elements are bits, of
// 1 to 16 bytes; a base is a multiple of the largest power of two that divides the element's size (2 for 6 bytes, 1 for 3).
// Extents may be 0 (nothing happens) and 1. Where the source has gaps between its elements, bytes of the gaps may be read,
// never used.
// Throws Error, before anything is launched, for: different shapes or element sizes, null pointers with elements,
// misaligned bases, overlapping views, byte offsets beyond 63 bits, memory that the current device cannot access, and a
// stream of another device. While `stream` is captured, pointers that CUDA does not know are taken for memory of the
// graph.
void copy(Tensor const& dst, ConstTensor const& src, cudaStream_t stream = nullptr);

// dst(..., j, i) = src(..., i, j): the copy of the source with its last two modes exchanged. Rank 2 and more.
void transpose(Tensor const& dst, ConstTensor const& src, cudaStream_t stream = nullptr);

// Mode k of dst is mode axes[k] of src: the copy of src.permuted(axes).
void permute(Tensor const& dst, ConstTensor const& src, std::span<int const> axes, cudaStream_t stream = nullptr);
inline void permute(Tensor const& dst, ConstTensor const& src, std::initializer_list<int> axes,
                    cudaStream_t stream = nullptr) {
  permute(dst, src, std::span<int const>(axes.begin(), axes.size()), stream);
}

// How a plan chooses.
enum class Choose {
  predicted,  // by the model of the GPU: launches nothing
  measured,  // those that are predicted to take at most twice as long as the fastest are timed, on `stream`: overwrites
             // dst and synchronises
};

// The plan by which dst(i) = src(i), on the current device. Throws as copy(), and for measuring on a stream that is
// captured; where nothing is launched, memory that the device cannot access is refused by a run.
Plan plan(Tensor const& dst, ConstTensor const& src, Choose choose = Choose::predicted, cudaStream_t stream = nullptr);

}  // namespace inlay
