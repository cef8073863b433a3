// Batches of small matrices of bf16 and f16, and single ones. The sums are those of hgemm_simple.
#pragma once
#include <inlay/kernels/gemm/tensor/small_tile.h>
#include <inlay/model/small_times.h>

namespace inlay::kernels::hgemm_small {

struct Step {};
template <class T>
struct ByTile {
  template <class F>
  static auto with(Gemm const& g, Device const& device, Config const& config, F const& f) {
    auto const of = [&]<int WARPS>(Int<WARPS>) {
      auto const with_A = [&](auto A) {
        if (is_along_K(g.B)) return f(std::type_identity<SmallTile<Step, T, WARPS, A, true>>{});
        return f(std::type_identity<SmallTile<Step, T, WARPS, A, false>>{});
      };
      return is_along_K(g.A) ? with_A(std::true_type{}) : with_A(std::false_type{});
    };
    return SmallTimes::tile(g, device, config).size == 32 ? of(_1{}) : of(_4{});
  }
  static bool is_along_K(Operand const& o) { return o.cols == 1 || o.col_stride == 1; }
};
template <class T>
struct Kernel : OneOf<ByTile<T>> {};
using Dispatch = ByHalfType<Kernel>;

inline constexpr Info<Gemm> info = {
    .name = "hgemm_small",
    .idea =
        "Tiles of 32 x 32 by one warp and of 64 x 64 by four, by mma.sync with few instructions beside it: many small "
        "matrices, of any alignment.",
    .source = "inlay",
    .ladder = Ladder::hgemm,
    .origin = Origin::ours,
    .rejects = Dispatch::rejects,
    .seconds = SmallTimes::seconds,
    .choose = SmallTimes::choose,
    .has_full_epilogue = true,
    .tiles = int(std::size(kSmallTiles)),
};

}  // namespace inlay::kernels::hgemm_small
