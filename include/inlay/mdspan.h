// Views of cuda::std::mdspan with any extents and any strided layout. mdspan is in include/cccl of a CUDA toolkit.
#pragma once
#include <inlay/tensor.h>

#include <cuda/std/mdspan>

namespace inlay {

// A view of the same elements: mode k is dimension k of the span, whose accessor is cuda::std::default_accessor.
template <class T, class Extents, class Layout>
TensorOf<T> tensor(cuda::std::mdspan<T, Extents, Layout> const& span) {
  static_assert(cuda::std::mdspan<T, Extents, Layout>::is_always_strided(), "a view has strides");
  constexpr std::size_t rank = Extents::rank();
  static_assert(rank <= std::size_t(Tensor::kMaxRank), "a tensor has at most 64 modes");
  std::int64_t extents[rank + 1]{}, strides[rank + 1]{};
  if constexpr (rank > 0)
    for (std::size_t k = 0; k < rank; ++k)
      extents[k] = std::int64_t(span.extent(k)), strides[k] = std::int64_t(span.stride(k));
  return tensor(span.data_handle(), std::span<std::int64_t const>(extents, rank),
                std::span<std::int64_t const>(strides, rank));
}

}  // namespace inlay
