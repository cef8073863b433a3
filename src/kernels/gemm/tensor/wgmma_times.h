// Predicted times of wgmma_ring.h on an H200, by which its kernels and the planner choose the slices of K and the width of the tiles.
#pragma once
#include <inlay/kernels/common/dispatch.h>

namespace inlay::kernels {

// Tiles of 128 x width, `cluster` of them along m. In microseconds: from the launch to the first stage; the start and the end of a tile, in
// which all multiprocessors write at the same time; 64 indices of K. Then by which parts the last is shorter where few multiprocessors
// have tiles, and longer where the rows of A or of B begin within lines of 128 bytes, which are then read twice.
// Fitted to bench/wgmma_tiles on the aligned half of suites/gemm/half_wild.json (docs/log.md).
struct WgmmaTile {
  int width, cluster;
  double launch, per_tile, per_64_k;
  double shorter, longer_A, longer_B;
};
inline constexpr WgmmaTile kClusterTile = {256, 2, 5.8, 2.89, .583, .06, .01, .005};
inline constexpr WgmmaTile kNarrowTiles[] = {{256, 1, 3.7, 2.78, .583, .10, .03, .05},
                                             {192, 1, 3.7, 2.00, .441, .15, .09, .11},
                                             {128, 1, 3.7, 1.31, .328, .31, .22, .19},
                                             {64, 1, 3.5, .66, .235, .35, .48, .27}};

struct WgmmaTimes {
  static constexpr double kSum = 2.3e-6;        // seconds of sum_slices, launched before the GEMM has ended
  static constexpr double kPartial = 1.55e12;   // bytes per second of partial sums that it adds
  static constexpr std::int64_t kLeastK = 256;  // of a slice

  static bool splits_lines(Operand const& o) {
    std::int64_t const pitch = o.row_stride == 1 ? o.col_stride : o.row_stride;
    return pitch % 64 || reinterpret_cast<std::uintptr_t>(o.base) % 32;
  }

  // The time of g in its slices, with the reduction that adds them.
  static double seconds(Gemm const& g, Device const& device, WgmmaTile const& t) {
    std::int64_t const slots = std::max(device.sm_count / t.cluster, 1),
                       tiles = ceil_div(g.M(), std::int64_t(128 * t.cluster)) * ceil_div(g.N(), std::int64_t(t.width)) *
                               g.L() * g.slices,
                       steps = ceil_div(g.slices > 1 ? g.slice_K : g.K(), std::int64_t(64));
    double const idle = std::max(0., 1 - double(tiles) / double(slots));
    double const step = t.per_64_k * (1 - t.shorter * idle) *
                        (1 + (splits_lines(g.A) ? t.longer_A : 0) + (splits_lines(g.B) ? t.longer_B : 0));
    double const elements = double(g.elements());
    double const bytes = 2. * double(g.A.rows * g.A.cols * g.A.matrices + g.B.rows * g.B.cols * g.B.matrices) +
                         elements * bytes_of(g.D.type);
    double const compute = 1e-6 * double(ceil_div(tiles, slots)) * (t.per_tile + double(steps) * step),
                 memory = bytes / ((device.copy_gbps > 0 ? device.copy_gbps : 4286) * 1e9);
    return 1e-6 * t.launch + std::max(compute, memory) +
           (g.slices > 1 ? kSum + elements * 4 * (g.slices + .5) / kPartial : 0);
  }

  static WgmmaTile const& best(Gemm const& g, Device const& device) {
    WgmmaTile const* best = &kNarrowTiles[0];
    double least = 0;
    for (WgmmaTile const& t : kNarrowTiles) {
      if (g.tile_N && g.tile_N != t.width) continue;
      if (double const s = seconds(g, device, t); least == 0 || s < least) least = s, best = &t;
    }
    return *best;
  }

  // The slices are those with which one matrix of g takes the least time: the bits must not depend on the batch.
  static Gemm split(Gemm const& g, Device const& device) {
    if (g.elements() == 0 || g.K() <= kLeastK) return g;
    Gemm one = g;
    one.tile_N = 0;
    for (Operand* o : {&one.A, &one.B, &one.D}) o->matrices = 1;
    Gemm split = one;
    double least = seconds(one, device, best(one, device));
    for (WgmmaTile const& t : kNarrowTiles) {
      std::int64_t const tiles = ceil_div(g.M(), std::int64_t(128)) * ceil_div(g.N(), std::int64_t(t.width));
      for (int waves = 1; waves <= 3; ++waves) {
        std::int64_t const slices = std::min(waves * device.sm_count / tiles, g.K() / kLeastK);
        if (slices <= 1) continue;
        Gemm c = one;
        c.slice_K = ceil_div(ceil_div(g.K(), slices), std::int64_t(64)) * 64;
        c.slices = int(ceil_div(g.K(), c.slice_K));
        if (double const s = seconds(c, device, t); s < least) least = s, split = c;
      }
    }
    if (split.slices == 1) return g;
    Gemm c = g;
    c.slices = split.slices, c.slice_K = split.slice_K;
    c.epilogue = {}, c.C = {};
    c.D.base = nullptr, c.D.type = f32, c.D.row_stride = g.N(), c.D.col_stride = 1, c.D.batch_stride = g.M() * g.N();
    return c;
  }
  static std::size_t workspace(Gemm const& g, Device const& device) {
    std::int64_t const slices = split(g, device).slices;
    return slices > 1 ? std::size_t(slices * g.elements()) * sizeof(float) : 0;
  }

  static double of_cluster(Gemm const& g, Device const& device) { return seconds(g, device, kClusterTile); }
  static double of_narrow(Gemm const& g, Device const& device) { return seconds(g, device, best(g, device)); }
};

}  // namespace inlay::kernels
