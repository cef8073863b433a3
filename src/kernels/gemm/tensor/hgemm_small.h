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
      return with_majors(g, [&](auto A, auto B) { return f(std::type_identity<SmallTile<Step, T, WARPS, A, B>>{}); });
    };
    return SmallTimes::tile(g, device, config).size == 32 ? of(_1{}) : of(_4{});
  }
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
