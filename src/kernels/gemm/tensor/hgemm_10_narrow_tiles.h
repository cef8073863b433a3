// The kernel of most GEMMs of 16 bits: step 09 with tiles of 16 to 256 columns, so that waves are full, clusters that
// share what they load along m and n or none, and a start before the kernel before it has ended.
#pragma once
#include <inlay/kernels/gemm/tensor/wgmma_columns.h>
#include <inlay/kernels/gemm/tensor/wgmma_ring.h>
#include <inlay/model/half_slices.h>

namespace inlay::kernels::hgemm_10_narrow_tiles {

template <int N, int stages>
struct Step : WgmmaRingStep {
  static constexpr int BLK_N = N, PIPE = stages, consumers = 2, min_blocks = 1, band = 8;
  static constexpr bool persistent = true, stores_by_tma = true, any_cluster = true, any_columns = true, follows = true;
  static constexpr Epilogues epilogues = Epilogues::full;
  static ClusterShape cluster_of(Gemm const& g, Device const& device, Config const& config) {
    return WgmmaTimes::tile(g, device, config).cluster;
  }
  static int columns_of(Gemm const& g, Device const& device, Config const& config) {
    return WgmmaTimes::columns(g, device, WgmmaTimes::tile(g, device, config), config);
  }
};

static_assert(std::ranges::all_of(kWgmmaTiles, [](WgmmaTile const& t) { return t.width % 64 == 0 && t.width <= 256; }),
              "ByWidth has no Step for a width of kWgmmaTiles");

template <class T>
struct ByWidth {
  template <class F>
  static auto with(Gemm const& g, Device const& device, Config const& config, F const& f) {
    auto const of = [&]<class S>(std::type_identity<S>) { return f(std::type_identity<OneOf<ByMajors<S, T>>>{}); };
    int const width = WgmmaTimes::tile(g, device, config).width;
    if (width == 256) return of(std::type_identity<Step<256, 4>>{});
    if (width == 192) return of(std::type_identity<Step<192, 4>>{});
    return width == 128 ? of(std::type_identity<Step<128, 6>>{}) : of(std::type_identity<Step<64, 8>>{});
  }
};
template <class T>
struct Kernel : OneOf<ByWidth<T>> {};
using Dispatch = ByHalfType<Kernel>;

inline constexpr Info<Gemm> info = {
    .name = "hgemm_10_narrow_tiles",
    .idea =
        "Tiles of 128 x 16 to 256, clusters that share A and B, and K in slices, whichever is predicted to take the "
        "least time; launched before the kernel before it has ended.",
    .source = "inlay",
    .ladder = Ladder::hgemm,
    .origin = Origin::ours,
    .rejects = Dispatch::rejects,
    .seconds = WgmmaTimes::of_tile,
    .workspace = HalfSlices::workspace,
    .choose = WgmmaTimes::choose,
    .has_full_epilogue = true,
    .split = HalfSlices::split,
    .tiles = int(std::size(kWgmmaTiles)),
    .width = WgmmaTimes::width,
};

}  // namespace inlay::kernels::hgemm_10_narrow_tiles
