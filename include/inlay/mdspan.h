// Views of cuda::std::mdspan with any extents and any strided layout. mdspan is in include/cccl of a CUDA toolkit.
#pragma once
#include <inlay/tensor.h>

#include <cuda/std/mdspan>
#include <type_traits>
#if __has_include(<cuda/mdspan>)
#include <cuda/mdspan>
#endif

namespace inlay {

namespace detail {
// Whether the elements are out of a GPU's reach, where CCCL has accessors that say so.
#if __has_include(<cuda/__mdspan/host_device_accessor.h>)
template <class Accessor>
inline constexpr bool is_on_host = cuda::is_host_accessor_v<Accessor>;
#else
template <class Accessor>
inline constexpr bool is_on_host = false;
#endif
}  // namespace detail

/// A view of the same elements: mode k is dimension k of the span. Takes accessors that read plain elements, such as
/// those of cuda::device_mdspan and cuda::managed_mdspan, and layouts with strides, cuda::layout_stride_relaxed among
/// them.
template <class T, class Extents, class Layout, class Accessor>
TensorOf<T> tensor(cuda::std::mdspan<T, Extents, Layout, Accessor> const& span) {
  using Span = cuda::std::mdspan<T, Extents, Layout, Accessor>;
  constexpr bool has_offset = requires {
    span.mapping().offset();
  };  // cuda::layout_stride_relaxed, with strides of either sign
  static_assert(Span::is_always_strided() || has_offset, "a view has strides");
  static_assert(std::is_same_v<typename Span::data_handle_type, T*> && std::is_same_v<typename Span::reference, T&>,
                "a view reads elements where a pointer says");
  static_assert(!detail::is_on_host<Accessor>, "a view is of memory that a GPU reads");
  constexpr std::size_t rank = Extents::rank();
  static_assert(rank <= std::size_t(Tensor::kMaxRank), "a tensor has at most 64 modes");
  std::int64_t extents[rank + 1]{}, strides[rank + 1]{};
  if constexpr (rank > 0)
    for (std::size_t k = 0; k < rank; ++k)
      extents[k] = std::int64_t(span.extent(k)), strides[k] = std::int64_t(span.stride(k));
  T* first = span.data_handle();
  if constexpr (has_offset) first += span.mapping().offset();
  return tensor(first, std::span<std::int64_t const>(extents, rank), std::span<std::int64_t const>(strides, rank));
}

}  // namespace inlay
