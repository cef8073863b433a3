// Step 09 for GEMMs of few waves: the width of the tiles follows from their number, no cluster has to meet, and the
// kernel starts before the one before it has ended.
#pragma once
#include <inlay/kernels/gemm/tensor/hgemm_09_majors.h>

namespace inlay::kernels::hgemm_10_narrow_tiles {

template <int N, int stages>
struct Step : hgemm_09_majors::Step {
  static constexpr int BLK_N = N, PIPE = stages, cluster = 1;
  static constexpr bool follows = true;
};

// The width that takes the busiest SM the fewest clocks.
template <class T>
struct ByWidth {
  // clocks: of 64 along K. Those of the tensor cores, 4 a column, and what was measured on top on an H200 (at 3072 and
  // 4096, nt): narrow tiles read more for each multiplication.
  static int64_t clocks(Gemm const& g, Device const& device, int width, int clocks) {
    int64_t const tiles = ceil_div(g.M(), int64_t(128)) * ceil_div(g.N(), int64_t(width)) * g.L();
    return ceil_div(tiles, int64_t(device.sm_count)) * clocks;
  }
  template <class F>
  static auto with(Gemm const& g, Device const& device, F const& f) {
    int64_t const wide = clocks(g, device, 256, 1024), less = clocks(g, device, 192, 775),
                  half = clocks(g, device, 128, 530), quarter = clocks(g, device, 64, 340);
    auto const of = [&]<class S>(std::type_identity<S>) { return f(std::type_identity<OneOf<ByMajors<S, T>>>{}); };
    int64_t const least = cute::min(cute::min(wide, less), cute::min(half, quarter));
    if (wide == least) return of(std::type_identity<Step<256, 4>>{});
    if (less == least) return of(std::type_identity<Step<192, 4>>{});
    return half == least ? of(std::type_identity<Step<128, 6>>{}) : of(std::type_identity<Step<64, 8>>{});
  }
};
template <class T>
struct Kernel : OneOf<ByWidth<T>> {};
using Dispatch = ByHalfType<Kernel>;

inline constexpr Info<Gemm> info = {
    .name = "hgemm_10_narrow_tiles",
    .idea =
        "Tiles of 128 x 256, 192, 128 or 64, whichever leaves the busiest multiprocessor the least work; no cluster; "
        "launched before the kernel before it has ended.",
    .source = "inlay",
    .ladder = Ladder::hgemm,
    .origin = Origin::ours,
    .rejects = Dispatch::rejects,
};

}  // namespace inlay::kernels::hgemm_10_narrow_tiles
