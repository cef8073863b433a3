// Predicted times of wgmma_ring.h on an H200, by which its kernels and the planner choose the tile and the slices of K.
#pragma once
#include <inlay/model/kernel_info.h>
#include <inlay/problem/integers.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>

namespace inlay::model {

// Blocks of a cluster along m and along n, powers of two.
struct ClusterShape {
  int m = 1, n = 1;
  constexpr int blocks() const { return m * n; }
};
// How many clusters are resident at once if each block has a multiprocessor for itself. Some GPCs of an H200 have
// multiprocessors left over behind clusters of four: 30 were resident, where 32 took a second wave; GPCs differ from
// chip to chip.
inline std::int64_t resident_clusters(Device const& device, ClusterShape const& c) {
  int const usable = c.blocks() > 2 ? device.sm_count * 7 / 8 : device.sm_count;
  return std::max(usable / c.blocks(), 1);
}

// Tiles of 128 x width. In microseconds: from the launch to the first stage; the start and the end of a tile, in which
// all multiprocessors write at the same time; 64 indices of K, if wgmma decides; a thousand lines of 128 bytes, if
// loads decide. The last two are shorter where few multiprocessors have tiles: by `idle` times their part without any;
// and by the power `busy` of the part with some. Fitted to bench/gemm_tiles on the aligned half of
// suites/gemm/half_wild.json, times predicted too short counting one and a half times (docs/log.md).
struct WgmmaTile {
  int width;
  ClusterShape cluster;
  char const *label, *label_of_transpose;
  double launch, per_tile, per_64_k, idle, per_1000_lines, busy;
};
inline constexpr WgmmaTile kWgmmaTiles[] = {
    {256,
     {2, 1},
     "256 columns, clusters of 2 x 1",
     "256 columns, clusters of 2 x 1, transposed",
     5.3,
     1.72,
     .580,
     .10,
     1.28,
     .22},
    {256, {1, 1}, "256 columns", "256 columns, transposed", 4.4, 1.66, .588, .12, .98, .43},
    {192,
     {2, 2},
     "192 columns, clusters of 2 x 2",
     "192 columns, clusters of 2 x 2, transposed",
     4.9,
     1.09,
     .474,
     .18,
     1.29,
     .69},
    {192,
     {2, 1},
     "192 columns, clusters of 2 x 1",
     "192 columns, clusters of 2 x 1, transposed",
     4.8,
     1.36,
     .458,
     .14,
     1.22,
     .24},
    {192, {1, 1}, "192 columns", "192 columns, transposed", 4.1, 1.32, .473, .23, .95, .22},
    {128,
     {2, 1},
     "128 columns, clusters of 2 x 1",
     "128 columns, clusters of 2 x 1, transposed",
     4.5,
     1.08,
     .336,
     .23,
     1.21,
     .34},
    {128, {1, 1}, "128 columns", "128 columns, transposed", 3.8, 1.16, .310, .21, .94, .21},
    {64,
     {2, 2},
     "64 columns, clusters of 2 x 2",
     "64 columns, clusters of 2 x 2, transposed",
     3.8,
     .54,
     .269,
     .28,
     1.60,
     .36},
    {64, {1, 1}, "64 columns", "64 columns, transposed", 3.3, .76, .232, .18, 1.17, .46}};

struct WgmmaTimes {
  static constexpr double kSum = 2.1e-6;        // seconds of sum_slices, launched before the GEMM has ended
  static constexpr double kPartial = 1.5e12;    // bytes per second of partial sums that it adds
  static constexpr std::int64_t kLeastK = 256;  // of a slice

  static bool splits_lines(Operand const& o) {
    std::int64_t const pitch = o.row_stride == 1 ? o.col_stride : o.row_stride;
    return pitch % 64 || reinterpret_cast<std::uintptr_t>(o.base) % 32;
  }

  // The time of g in its slices, with the reduction that adds them.
  static double seconds(Gemm const& g, Device const& device, WgmmaTile const& t) {
    std::int64_t const slots = resident_clusters(device, t.cluster),
                       tiles = ceil_div(g.M(), std::int64_t(128 * t.cluster.m)) *
                               ceil_div(g.N(), std::int64_t(t.width * t.cluster.n)) * g.L() * g.slices,
                       steps = ceil_div(g.slices > 1 ? g.slice_K : g.K(), std::int64_t(64));
    double const busy = std::min(1., double(tiles) / double(slots));
    // Lines of A and B that a block loads; those that begin within lines of 128 bytes take two each.
    auto const lines = [&](Operand const& o, int rows, int blocks) {
      return (splits_lines(o) ? 2. : 1.) * rows / blocks;
    };
    double const loads = lines(g.A, 128, t.cluster.n) + lines(g.B, t.width, t.cluster.m),
                 step = std::max(t.per_64_k * (1 - t.idle * (1 - busy)),
                                 1e-3 * t.per_1000_lines * loads * std::pow(busy, t.busy));
    double const elements = double(g.elements());
    double const bytes = 2. * double(g.A.rows * g.A.cols * g.A.matrices + g.B.rows * g.B.cols * g.B.matrices) +
                         elements * bytes_of(g.D.type);
    double const compute = 1e-6 * double(ceil_div(tiles, slots)) * (t.per_tile + double(steps) * step),
                 memory = bytes / (device.copy_gbps * 1e9);
    return 1e-6 * t.launch + std::max(compute, memory) +
           (g.slices > 1 ? kSum + elements * 4 * (g.slices + .5) / kPartial : 0);
  }

  // The configured tile, or the one that is predicted to be the fastest.
  static WgmmaTile const& tile(Gemm const& g, Device const& device, Config const& config) {
    if (config.tile) return kWgmmaTiles[config.tile - 1];
    return *std::min_element(std::begin(kWgmmaTiles), std::end(kWgmmaTiles), [&](auto const& a, auto const& b) {
      return seconds(g, device, a) < seconds(g, device, b);
    });
  }
  static double of_tile(Gemm const& g, Device const& device, Config const& config) {
    return seconds(g, device, tile(g, device, config));
  }

  // The slices of K with which one matrix of g, or its transpose, takes the least time: the bits must not depend on the
  // batch. The same for g and its transpose.
  struct Slices {
    int count = 1;
    std::int64_t K = 0;  // of a slice; the last one may be shorter
  };
  static Slices slices(Gemm const& g, Device const& device) {
    if (g.elements() == 0 || g.K() <= kLeastK) return {};
    Gemm one = g;
    for (Operand* o : {&one.A, &one.B, &one.D}) o->matrices = 1;
    auto const of = [&](std::int64_t count) {
      std::int64_t const k = ceil_div(ceil_div(g.K(), count), std::int64_t(64)) * 64;
      return Slices{int(ceil_div(g.K(), k)), k};
    };
    auto const time = [&](Slices const& s) {
      Gemm c = one;
      c.slices = s.count, c.slice_K = s.K;
      return std::min(of_tile(c, device, {}), of_tile(c.transposed(), device, {}));
    };
    Slices best;
    double least = time(best);
    std::int64_t tried[std::size(kWgmmaTiles) * 6], count = 0;
    for (WgmmaTile const& t : kWgmmaTiles)
      for (Gemm const& c : {one, one.transposed()})
        for (int waves = 1; waves <= 3; ++waves) {
          std::int64_t const tiles = ceil_div(c.M(), std::int64_t(128 * t.cluster.m)) *
                                     ceil_div(c.N(), std::int64_t(t.width * t.cluster.n)),
                             n = std::min(waves * resident_clusters(device, t.cluster) / tiles, g.K() / kLeastK);
          if (n <= 1 || std::find(tried, tried + count, n) != tried + count) continue;
          tried[count++] = n;
          if (double const s = time(of(n)); s < least) least = s, best = of(n);
        }
    return best;
  }
  // g whose partial sums go to the workspace.
  static Gemm sliced(Gemm const& g, Slices const& slices) {
    if (slices.count == 1) return g;
    Gemm c = g;
    c.slices = slices.count, c.slice_K = slices.K;
    c.epilogue = {}, c.C = {};
    bool const along_m = g.D.row_stride == 1 && g.D.col_stride != 1;
    c.D.base = nullptr, c.D.type = f32, c.D.batch_stride = g.M() * g.N();
    c.D.row_stride = along_m ? 1 : g.N(), c.D.col_stride = along_m ? g.M() : 1;
    return c;
  }
  static Gemm split(Gemm const& g, Device const& device) { return sliced(g, slices(g, device)); }
  static std::size_t workspace(Gemm const& g, Device const& device) {
    std::int64_t const slices = split(g, device).slices;
    return slices > 1 ? std::size_t(slices * g.elements()) * sizeof(float) : 0;
  }
};

}  // namespace inlay::model
