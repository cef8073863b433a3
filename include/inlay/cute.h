// Views of CuTe tensors with any integer layout, static or dynamic. The only public header that includes cute/.
#pragma once
#include <inlay/tensor.h>

#include <cute/tensor.hpp>

namespace inlay {

/// A view of the same elements. Its modes are the leaves of the layout, in CuTe's order, where the first mode runs
/// fastest by convention. Takes pointers to global memory only, and no elements of sub-byte types.
template <class Engine, class Layout>
auto tensor(cute::Tensor<Engine, Layout> const& t) {
  auto const flat = cute::flatten(t.layout());
  constexpr std::size_t rank = decltype(cute::rank(flat))::value;
  static_assert(rank <= std::size_t(Tensor::kMaxRank), "a tensor has at most 64 modes");
  std::int64_t extents[rank + 1]{}, strides[rank + 1]{};
  cute::for_each(cute::make_seq<rank>{}, [&](auto k) {
    extents[k] = std::int64_t(cute::get<k>(cute::wrap(cute::shape(flat))));
    strides[k] = std::int64_t(cute::get<k>(cute::wrap(cute::stride(flat))));
  });
  return tensor(cute::raw_pointer_cast(t.data()), std::span<std::int64_t const>(extents, rank),
                std::span<std::int64_t const>(strides, rank));
}

}  // namespace inlay
