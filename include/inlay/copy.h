// Copies between tensors of different layouts. A call allocates no device memory and does not synchronise; it launches
// on `stream` of the current device. Thread-safe. The result is bitwise equal to the source.
#pragma once
#include <inlay/export.h>
#include <inlay/plan.h>
#include <inlay/tensor.h>

namespace inlay {

/// dst(i) = src(i). If an extent is 0, nothing is launched.
///
/// @param dst     Any view of rank 0 to 64 that does not overlap itself; strides may be negative. Extents and strides
///                have 64 bits.
/// @param src     A view of the same shape; strides may be 0 or negative. If it has gaps between its elements, bytes in
///                the gaps may be read. Both: elements have one size of 1 to 16 bytes and are copied as bits: one type,
///                integers of either sign, or an opaque type (types.h) on one side. Base addresses are multiples of the
///                largest power of two that divides the element size (2 for 6 bytes, 1 for 3).
/// @param stream  Of the current device. While it is being captured, pointers unknown to CUDA count as memory of the
///                graph.
/// @throws Error  Before anything is launched, for
///                  - different shapes or element sizes, and types between which numbers would have to be converted,
///                  - null pointers with elements, and misaligned bases,
///                  - a destination that overlaps itself or the source,
///                  - byte offsets beyond 63 bits,
///                  - memory that the current device cannot access, and a stream of another device.
INLAY_API void copy(Tensor const& dst, ConstTensor const& src, cudaStream_t stream = nullptr);

/// dst[i] = src[i] for each pair of a list, as copy() does it.
///
/// Pairs with the same shape, strides and addresses modulo 32 share a launch, in which all of them progress together:
/// 1,536 at most, more are several launches. Pairs whose alignment differs share one only for some transposes. A copy
/// that exceeds a grid is launched alone.
///
/// @throws Error  As copy(), with the index of the pair, and if a destination overlaps another destination or any
///                source.
INLAY_API void copy(std::span<Tensor const> dst, std::span<ConstTensor const> src, cudaStream_t stream = nullptr);

/// dst(..., j, i) = src(..., i, j) for views of rank 2 or more: copies src.transposed(). @throws Error as copy().
INLAY_API void transpose(Tensor const& dst, ConstTensor const& src, cudaStream_t stream = nullptr);

/// Mode k of dst is mode axes[k] of src: copies src.permuted(axes).
/// @param axes    (rank): each mode of src once.
/// @throws Error  As copy() and BasicTensor::permuted().
INLAY_API void permute(Tensor const& dst, ConstTensor const& src, std::span<int const> axes,
                       cudaStream_t stream = nullptr);
inline void permute(Tensor const& dst, ConstTensor const& src, std::initializer_list<int> axes,
                    cudaStream_t stream = nullptr) {
  permute(dst, src, std::span<int const>(axes.begin(), axes.size()), stream);
}

/// A plan for dst(i) = src(i) on the current device.
///
/// With Choose::measured it runs what is predicted to be nearly as fast as the fastest, up to 64 kernels and tilings,
/// and compares the result of the fastest with the planned one bit for bit. For this it allocates as many bytes as dst
/// spans, and nobody may write between the elements of dst meanwhile.
///
/// @throws Error  As copy(), and for measuring on a stream that is being captured. With Choose::predicted, memory that
///                the device cannot access is rejected by Plan::run().
INLAY_API Plan plan(Tensor const& dst, ConstTensor const& src, PlanOptions const& how = {});

}  // namespace inlay
