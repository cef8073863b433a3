// Groups of rows, each by a B of its own, in one launch: the experts of a mixture.
#pragma once
#include <inlay/kernels/gemm/tensor/wgmma_ring.h>
#include <inlay/model/group_times.h>

namespace inlay::kernels::hgemm_groups {

template <int N, int stages>
struct Step : WgmmaRingStep {
  static constexpr int BLK_N = N, PIPE = stages, consumers = 2, min_blocks = 1, band = 8;
  static constexpr bool persistent = true, stores_by_tma = true, follows = true, takes_groups = true;
  static constexpr Epilogues epilogues = Epilogues::full;
};

template <class T>
struct ByWidth {
  template <class F>
  static auto with(Gemm const& g, Device const& device, Config const& config, F const& f) {
    auto const of = [&]<class S, Major B>(std::type_identity<S>, constant<Major, B>) {
      return f(std::type_identity<WgmmaRing<S, T, Major::K, B>>{});
    };
    auto const with_B = [&](auto step) {
      return loads_along_K(g.B) ? of(step, constant<Major, Major::K>{}) : of(step, constant<Major, Major::MN>{});
    };
    if (GroupTimes::tile(g, device, config).width == 256) return with_B(std::type_identity<Step<256, 4>>{});
    return with_B(std::type_identity<Step<128, 6>>{});
  }
};
template <class T>
struct Kernel : OneOf<ByWidth<T>> {};
using Dispatch = ByHalfType<Kernel>;

inline constexpr Info<Gemm> info = {
    .name = "hgemm_groups",
    .idea =
        "Each group of rows has a B of its own; blocks look up the ends of the groups, which lie on the device, and "
        "compute the groups' tiles one after the other.",
    .source = "inlay",
    .ladder = Ladder::hgemm,
    .origin = Origin::ours,
    .rejects = Dispatch::rejects,
    .seconds = GroupTimes::seconds,
    .choose = GroupTimes::choose,
    .has_full_epilogue = true,
    .takes_groups = true,
    .tiles = int(std::size(GroupTimes::kTiles)),
};

}  // namespace inlay::kernels::hgemm_groups
