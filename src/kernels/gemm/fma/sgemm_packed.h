// Batches of small matrices without gaps: whichever register tile is predicted to be the fastest.
#pragma once
#include <inlay/kernels/gemm/fma/packed.h>

namespace inlay::kernels::sgemm_packed {

template <bool A, bool B>
using Square4 = Quads<A, B, 4, 128, 20, 8>;
template <bool A, bool B>
using Square8 = Quads<A, B, 8, 64, 33, 6>;
template <bool A, bool B>
using LargeSquare8 = Quads<A, B, 8, 64, 52, 4>;
using LargeStrided = Strided<5, 5, 128, 52, 4>;

struct Choice {
  // Calls f with each tile for the operands of g.
  template <class F>
  static void each(Gemm const& g, F const& f) {
    auto const tile = [&]<class Micro>(std::type_identity<Micro>) { f(std::type_identity<SgemmPacked<Micro>>{}); };
    auto const squares = [&]<bool A, bool B>(std::bool_constant<A>, std::bool_constant<B>) {
      tile(std::type_identity<Square4<A, B>>{}), tile(std::type_identity<Square8<A, B>>{}),
          tile(std::type_identity<LargeSquare8<A, B>>{});
    };
    bool const a = PackedOperand::of(g.A).along_k, b = PackedOperand::of(g.B).along_k;
    if (a && b) squares(std::true_type{}, std::true_type{});
    if (a && !b) squares(std::true_type{}, std::false_type{});
    if (!a && b) squares(std::false_type{}, std::true_type{});
    if (!a && !b) squares(std::false_type{}, std::false_type{});
    tile(std::type_identity<Strided<1, 1, 128, 20, 10>>{}), tile(std::type_identity<Strided<2, 2, 128, 20, 10>>{});
    tile(std::type_identity<Strided<3, 3, 128, 20, 10>>{}), tile(std::type_identity<Strided<5, 5, 128, 20, 8>>{});
    tile(std::type_identity<Strided<8, 5, 64, 20, 10>>{}), tile(std::type_identity<Strided<6, 7, 64, 20, 10>>{});
    tile(std::type_identity<LargeStrided>{});
  }
  // The fastest that takes g; the last of all if none does.
  template <class F>
  static auto with(Gemm const& g, Device const& device, F const& f) {
    int best = -1, index = 0;
    double least = 0;
    if (g.elements() && g.K())
      each(g, [&]<class V>(std::type_identity<V>) {
        if (!V::rejects(g, device))
          if (double const s = V::seconds(g, device); best < 0 || s < least) best = index, least = s;
        ++index;
      });
    else
      each(g, [&](auto) { ++index; });
    if (best < 0) best = index - 1;
    using Result = decltype(f(std::type_identity<SgemmPacked<LargeStrided>>{}));
    index = 0;
    if constexpr (std::is_void_v<Result>) {
      each(g, [&](auto v) {
        if (index++ == best) f(v);
      });
    } else {
      Result result{};
      each(g, [&](auto v) {
        if (index++ == best) result = f(v);
      });
      return result;
    }
  }
};
using Kernel = OneOf<Choice>;
using Dispatch = Kernel;

inline constexpr Info<Gemm> info = {
    .name = "sgemm_packed",
    .idea =
        "Many small matrices a block, copied as one piece; a register tile of one matrix to a thread: their bytes "
        "limit.",
    .source = "inlay",
    .ladder = Ladder::sgemm,
    .origin = Origin::ours,
    .rejects = Kernel::rejects,
};

}  // namespace inlay::kernels::sgemm_packed
