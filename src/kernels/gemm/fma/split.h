// Family: a kernel of tile.h with K split into slices (split_k.h), as many as are predicted to take the least time.
#pragma once
#include <inlay/kernels/gemm/fma/split_k.h>
#include <inlay/kernels/gemm/fma/tile.h>

namespace inlay::kernels {

template <template <Vectors A, Vectors B> class Step>
struct SgemmSlices : SgemmVectors<Step> {
  // All kernels of Step have this BLK_M and BLK_N. Slices are multiples of this BLK_K.
  using Tile = typename SgemmVectors<Step>::template Tile<Vectors::rows, Vectors::rows>;
  static constexpr int64_t least_k = 64;  // shorter slices cost more in partial sums than they gain

  static int64_t tiles(Gemm const& g) {
    return ceil_div(g.M(), int64_t(Tile::BLK_M)) * ceil_div(g.N(), int64_t(Tile::BLK_N));
  }
  static Config config(Gemm const&, Device const&) { return {}; }
  // Up to K = 256 nothing is split: the planner may then choose any kernel that accumulates all of K in one register.
  // With blocked summation a slice is a block sum.
  static int64_t slice_k(Gemm const& g, Device const& device) {
    if (g.K() <= 256) return 256;
    Gemm one = g;  // at an address that is aligned
    for (problem::Operand* o : {&one.A, &one.B, &one.D}) o->base = nullptr, o->matrices = 1;
    int64_t const most = g.compute == Compute::fp32_blocked ? 1024 : g.K();
    return SgemmSlices::tiles_of(SgemmSlices::loads(one))
        .slice_k(Step<Vectors::none, Vectors::none>::times, g, least_k, most, device);
  }
};

template <template <Vectors A, Vectors B> class Step>
using SgemmSplit = SplitK<SgemmSlices<Step>>;

}  // namespace inlay::kernels
