// Tiles of 128 x 128 in ping-pong: while one warpgroup stores a tile, the other multiplies the next. For many tiles of
// small K. Not a candidate yet: bench/gemm_tiles times it.
#pragma once
#include <inlay/kernels/gemm/tensor/wgmma_ring.h>

namespace inlay::kernels::hgemm_ping_pong {

struct Step : WgmmaRingStep {
  static constexpr int BLK_N = 128, PIPE = 6, consumers = 2, min_blocks = 1, band = 8;
  static constexpr bool ping_pong = true, persistent = true, stores_by_tma = true, any_cluster = true, follows = true;
  static constexpr Epilogues epilogues = Epilogues::full;
  // Config::tile: 2 for clusters of two blocks along m, otherwise none.
  static ClusterShape cluster_of(Gemm const&, Device const&, Config const& config) {
    return {config.tile == 2 ? 2 : 1, 1};
  }
};
template <class T>
struct Kernel : OneOf<ByMajors<Step, T>> {};
using Dispatch = ByHalfType<Kernel>;

inline constexpr Info<Gemm> info = {
    .name = "hgemm_ping_pong",
    .idea = "Tiles of 128 x 128: one warpgroup stores while the other one multiplies.",
    .source = "inlay",
    .ladder = Ladder::hgemm,
    .origin = Origin::ours,
    .rejects = Dispatch::rejects,
    .has_full_epilogue = true,
    .tiles = 2,
};

}  // namespace inlay::kernels::hgemm_ping_pong
