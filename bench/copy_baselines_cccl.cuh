// A translation unit of its own for each element size and type of index: CMake writes them, since the ranks of mdspans
// are known when they are compiled, and a unit takes a minute.
#pragma once
#include <cuda/mdspan>
#include <cuda/std/array>
#include <cuda/stream>

#include <cuda/experimental/copy.cuh>

#include "copy_baselines.h"

namespace inlay::baselines {
namespace {

// Bytes that are moved as a whole, aligned as far as their number allows.
template <int Bytes>
struct alignas(Bytes & -Bytes) Bytewise {
  unsigned char byte[Bytes];
};

template <int Bytes>
struct ElementOf {
  using type = Bytewise<Bytes>;
};
template <>
struct ElementOf<1> {
  using type = unsigned char;
};
template <>
struct ElementOf<2> {
  using type = unsigned short;
};
template <>
struct ElementOf<4> {
  using type = unsigned;
};
template <>
struct ElementOf<8> {
  using type = unsigned long long;
};

template <class Element, class Index, std::size_t Rank>
auto view(void* data, int rank, std::int64_t const* extents, std::int64_t const* strides) {
  cuda::std::array<Index, Rank> shape, step;
  for (int k = 0; k < int(Rank); ++k) {
    int const mode = k - (int(Rank) - rank);  // of the caller's; extents of 1 come first
    shape[k] = mode < 0 ? 1 : Index(extents[mode]);
    step[k] = mode < 0 ? 1 : Index(strides[mode]);
  }
  using Extents = cuda::std::dextents<Index, Rank>;
  using Mapping = cuda::layout_stride_relaxed::mapping<Extents>;
  return cuda::device_mdspan<Element, Extents, cuda::layout_stride_relaxed>(
      static_cast<Element*>(data), Mapping(Extents(shape), cuda::dstrides<Index, Rank>(step)));
}

}  // namespace

template <int Bytes, class Index>
void cccl_copy(void* dst, void const* src, int rank, std::int64_t const* extents, std::int64_t const* dst_strides,
               std::int64_t const* src_strides, cudaStream_t stream) {
  using Element = typename ElementOf<Bytes>::type;
  auto const of_rank = [&]<std::size_t Rank>(std::integral_constant<std::size_t, Rank>) {
    cuda::experimental::copy(view<Element, Index, Rank>(const_cast<void*>(src), rank, extents, src_strides),
                             view<Element, Index, Rank>(dst, rank, extents, dst_strides), cuda::stream_ref(stream));
  };
  if (rank <= 2) return of_rank(std::integral_constant<std::size_t, 2>{});
  if (rank == 3) return of_rank(std::integral_constant<std::size_t, 3>{});
  if (rank == 4) return of_rank(std::integral_constant<std::size_t, 4>{});
  if (rank <= 6) return of_rank(std::integral_constant<std::size_t, 6>{});
  of_rank(std::integral_constant<std::size_t, 8>{});
}

}  // namespace inlay::baselines
