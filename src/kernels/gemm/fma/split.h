// Family: a kernel of tile.h with K split into slices, so that a GEMM with few tiles of D fills the
// GPU. Each block writes the sums of a slice to the workspace; sum_slices adds them.
#pragma once
#include <inlay/kernels/gemm/fma/slice_sums.h>
#include <inlay/kernels/gemm/fma/tile.h>

namespace inlay::kernels {

template <template <Vectors A, Vectors B> class Step>
struct SgemmSplit : SgemmVectors<Step> {
  using Base = SgemmVectors<Step>;
  // All kernels of Step have this BLK_M and BLK_N. Slices are multiples of this BLK_K.
  using Tile = typename Base::template Tile<Vectors::rows, Vectors::rows>;
  static constexpr int64_t least_k = 64;  // shorter slices cost more in partial sums than they gain

  static int64_t tiles(Gemm const& g) {
    return ceil_div(g.M(), int64_t(Tile::BLK_M)) * ceil_div(g.N(), int64_t(Tile::BLK_N));
  }
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
  static int64_t slices(Gemm const& g, Device const& device) { return g.K() ? ceil_div(g.K(), slice_k(g, device)) : 1; }
  static std::size_t workspace(Gemm const& g, Device const& device) {
    int64_t const n = g.elements() ? slices(g, device) : 1;
    return n > 1 ? std::size_t(n * g.elements()) * sizeof(float) : 0;
  }

  // The GEMM whose D are partial sums; with one slice, the GEMM itself.
  static Gemm split(Gemm const& g, Device const& device) {
    Gemm c = g;
    c.slices = g.elements() ? int(slices(g, device)) : 1, c.slice_K = slice_k(g, device);
    if (c.slices == 1) return g;
    c.epilogue = {};
    c.D.base = nullptr, c.D.row_stride = g.N(), c.D.col_stride = 1, c.D.batch_stride = g.M() * g.N();
    return c;
  }

  // A plan launches the GEMM and the sum separately; run on its own, the kernel launches both.
  template <class S, class F>
  static void launches(Gemm const& g, S const& setting, F const& f) {
    Gemm c = g.slices == 1 && setting.workspace ? split(g, setting.device) : g;
    if (c.slices == g.slices) return Base::launches(g, setting, f);
    c.D.base = setting.workspace;
    Base::launches(c, setting, f);
    SumSlices::launches({g.D, g.epilogue, c.D.as<float>(), c.slices}, setting, f);
  }

  static Reason rejects(Gemm const& g, Device const& device) {
    if (Reason r = Base::rejects(g, device)) return r;
    if (!g.elements() || !g.K()) return {};
    int64_t const n = slices(g, device);
    if (n > 1 && __int128(n) * g.elements() * 4 > device.memory_bytes)
      return {"{} partial sums of each of {} elements do not fit the device's memory", {n, g.elements()}};
    return too_many("{} tiles in {} parts and {} matrices are more blocks than a grid holds", __int128(tiles(g)) * n,
                    g.L(), {tiles(g), n, g.L()});
  }
};

}  // namespace inlay::kernels
