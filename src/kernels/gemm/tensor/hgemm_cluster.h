// GEMMs of few tiles: small ones, and few rows or columns beside a large operand.
#pragma once
#include <inlay/kernels/gemm/tensor/wgmma_cluster.h>
#include <inlay/kernels/gemm/tensor/wgmma_columns.h>
#include <inlay/model/cluster_times.h>

namespace inlay::kernels::hgemm_cluster {

template <int M, int N, int stages, int blocks>
struct Step {
  static constexpr int BLK_M = M, BLK_N = N, PIPE = stages, min_blocks = blocks;
  static int columns_of(Gemm const& g, Device const& device, Config const& config) {
    return ClusterTimes::columns(g, device, ClusterTimes::tile(g, device, config), config);
  }
};

template <class T>
struct ByTile {
  template <class F>
  static auto with(Gemm const& g, Device const& device, Config const& config, F const& f) {
    ClusterTile const& tile = ClusterTimes::tile(g, device, config);
    auto const of = [&]<class S>(std::type_identity<S>) {
      auto const with_majors = [&]<Major A, Major B>(constant<Major, A>, constant<Major, B>) {
        return f(std::type_identity<WgmmaCluster<S, T, A, B>>{});
      };
      auto const with_A = [&](auto A) {
        // Narrow tiles take a B that is contiguous along k.
        if constexpr (S::BLK_N >= 64)
          if (!loads_along_K(g.B)) return with_majors(A, constant<Major, Major::MN>{});
        return with_majors(A, constant<Major, Major::K>{});
      };
      return loads_along_K(g.A) ? with_A(constant<Major, Major::K>{}) : with_A(constant<Major, Major::MN>{});
    };
    if (tile.columns == 128) return of(std::type_identity<Step<128, 128, 6, 1>>{});
    if (tile.rows == 128) return of(std::type_identity<Step<128, 64, 8, 1>>{});
    if (tile.columns == 64) return of(std::type_identity<Step<64, 64, 12, 1>>{});
    return tile.columns == 32 ? of(std::type_identity<Step<64, 32, 8, 2>>{})
                              : of(std::type_identity<Step<64, 16, 10, 2>>{});
  }
};
template <class T>
struct Kernel : OneOf<ByTile<T>> {};
struct Dispatch : ByHalfType<Kernel> {
  static constexpr bool adds_slices = true;
};

inline constexpr Info<Gemm> info = {
    .name = "hgemm_cluster",
    .idea =
        "Tiles of 64 x 16 to 128 x 128 whose K is shared by the blocks of a cluster, which add their sums through "
        "distributed shared memory: no workspace and no second launch.",
    .source = "inlay",
    .ladder = Ladder::hgemm,
    .origin = Origin::ours,
    .rejects = Dispatch::rejects,
    .seconds = ClusterTimes::of_tile,
    .choose = ClusterTimes::choose,
    .has_full_epilogue = true,
    .adds_slices = true,
    .tiles = int(std::size(kClusterTiles)),
    .width = ClusterTimes::width,
};

}  // namespace inlay::kernels::hgemm_cluster
