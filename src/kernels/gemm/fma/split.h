// Family: a kernel of tile.h with K split into slices (split_k.h), as many as fill one wave of blocks.
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
  static Gemm of_tile(Gemm const& g, Device const&) { return g; }
  // As many slices as fill one wave of blocks with one matrix. Up to K = 256 nothing is split: the
  // planner may then choose any kernel that accumulates all of K in one register.
  static int64_t slice_k(Gemm const& g, Device const& device) {
    if (g.K() <= 256) return 256;
    int64_t const wave = int64_t(device.sm_count) * Tile::min_blocks;
    int64_t const slices = cute::max(wave / tiles(g), int64_t(1));
    int64_t k = cute::max(ceil_div(g.K(), slices), least_k);
    if (g.compute == Compute::fp32_blocked) k = cute::min(k, int64_t(1024));  // a slice is a block sum
    return ceil_div(k, int64_t(Tile::BLK_K)) * Tile::BLK_K;
  }
};

template <template <Vectors A, Vectors B> class Step>
using SgemmSplit = SplitK<SgemmSlices<Step>>;

}  // namespace inlay::kernels
