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

struct Step {};
struct Choice {
  // Calls f with each tile for the operands of g.
  template <class F>
  static void each(Gemm const& g, F const& f) {
    auto const tile = [&]<class Micro>(std::type_identity<Micro>) {
      f(std::type_identity<SgemmPacked<Step, Micro>>{});
    };
    auto const squares = [&]<bool A, bool B>(std::bool_constant<A>, std::bool_constant<B>) {
      tile(std::type_identity<Square4<A, B>>{}), tile(std::type_identity<Square8<A, B>>{}),
          tile(std::type_identity<LargeSquare8<A, B>>{});
    };
    bool const a = PackedOperand::is_along_k(g.A), b = PackedOperand::is_along_k(g.B);
    if (a && b) squares(std::true_type{}, std::true_type{});
    if (a && !b) squares(std::true_type{}, std::false_type{});
    if (!a && b) squares(std::false_type{}, std::true_type{});
    if (!a && !b) squares(std::false_type{}, std::false_type{});
    tile(std::type_identity<Strided<1, 1, 128, 20, 10>>{}), tile(std::type_identity<Strided<2, 2, 128, 20, 10>>{});
    tile(std::type_identity<Strided<3, 3, 128, 20, 10>>{}), tile(std::type_identity<Strided<5, 5, 128, 20, 8>>{});
    tile(std::type_identity<Strided<8, 5, 64, 20, 10>>{}), tile(std::type_identity<Strided<6, 7, 64, 20, 10>>{});
    tile(std::type_identity<LargeStrided>{});
  }
  struct Best {
    int index = -1, count = 0;  // -1: no tile takes the problem
    double seconds = 0;
  };
  static Best best_of(Gemm const& g, Device const& device) {
    Best best;
    each(g, [&]<class V>(std::type_identity<V>) {
      int const index = best.count++;
      if (!g.elements()) return;
      if (Reason const r = V::rejects(g, device); r && !r.chunks) return;
      if (double const s = V::seconds(g, device); best.index < 0 || s < best.seconds)
        best.index = index, best.seconds = s;
    });
    return best;
  }
  static double seconds(Gemm const& g, Device const& device) { return best_of(g, device).seconds; }
  // The fastest that takes g; the last of all if none does.
  template <class F>
  static auto with(Gemm const& g, Device const& device, Config const&, F const& f) {
    Best const chosen = best_of(g, device);
    int const best = chosen.index < 0 ? chosen.count - 1 : chosen.index;
    int index = 0;
    using Result = decltype(f(std::type_identity<SgemmPacked<Step, LargeStrided>>{}));
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
    .seconds = Choice::seconds,
};

}  // namespace inlay::kernels::sgemm_packed
