// Predicted times of wgmma_ring.h on an H200, by which its kernels and the planner choose the tile.
#pragma once
#include <inlay/model/kernel_info.h>
#include <inlay/problem/integers.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>

namespace inlay::model {

// Blocks of a cluster along m and along n, 1 or 2.
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

// Whether each row of 64 elements of an operand of 16 bits takes two lines of 128 bytes.
inline bool splits_lines(Operand const& o) {
  std::int64_t const pitch = o.row_stride == 1 ? o.col_stride : o.row_stride;
  return pitch % 64 || reinterpret_cast<std::uintptr_t>(o.base) % 32;
}
// Bytes of A, B and D.
inline double operand_bytes(Gemm const& g) {
  return 2. * double(g.A.rows * g.A.cols * g.A.matrices + g.B.rows * g.B.cols * g.B.matrices) +
         double(g.elements()) * bytes_of(g.D.type);
}

// Tiles of 128 x width. In microseconds: from the launch to the first stage; the start and the end of a tile, in which
// all multiprocessors write at the same time; 64 indices of K, if wgmma decides; a thousand lines of 128 bytes, if
// loads decide. The last two are shorter where few multiprocessors have tiles: by `idle` times their part without any;
// and by the power `busy` of the part with some. Fitted together with the constants
// of cluster_times.h to bench/gemm_tiles on 287 aligned GEMMs, of suites/gemm/half_wild.json, half_shapes.json,
// half_few_rows.json and half_squares.json among others: so that the tiles that they choose take the least time, and
// that predictions are near (docs/log.md). No single constant is a measurement.
struct WgmmaTile {
  int width;
  ClusterShape cluster;
  double launch, per_tile, per_64_k, idle, per_1000_lines, busy;
  char const *label, *label_of_transpose;
};
// In the order of these fields. Config::tile numbers the rows: a new one is the last. Labels name tuned choices.
inline constexpr WgmmaTile kWgmmaTiles[] = {
    // clang-format off
    {256, {2, 1}, 4.23, .59, .658, .15, .96, .20,
     "256 columns, clusters of 2 x 1", "256 columns, clusters of 2 x 1, transposed"},
    {256, {1, 1}, 3.14, .39, .613, .08, 1.20, .36,
     "256 columns", "256 columns, transposed"},
    {192, {2, 2}, 3.43, .94, .451, .34, 1.52, .63,
     "192 columns, clusters of 2 x 2", "192 columns, clusters of 2 x 2, transposed"},
    {192, {2, 1}, 4.05, .50, .510, .24, 1.26, .23,
     "192 columns, clusters of 2 x 1", "192 columns, clusters of 2 x 1, transposed"},
    {192, {1, 1}, 2.76, .65, .495, .30, 1.12, .19,
     "192 columns", "192 columns, transposed"},
    {128, {2, 1}, 3.65, .52, .362, .28, 1.33, .69,
     "128 columns, clusters of 2 x 1", "128 columns, clusters of 2 x 1, transposed"},
    {128, {1, 1}, 2.21, .89, .337, .22, 1.08, .36,
     "128 columns", "128 columns, transposed"},
    {64,  {2, 2}, 2.61, .92, .238, .14, 1.25, .14,
     "64 columns, clusters of 2 x 2", "64 columns, clusters of 2 x 2, transposed"},
    {64,  {1, 1}, 1.68, 1.00, .235, .09, 1.15, .74,
     "64 columns", "64 columns, transposed"},
    // clang-format on
};

struct WgmmaTimes {
  static constexpr double kSum = 2.1e-6;      // seconds of sum_slices, launched before the GEMM has ended
  static constexpr double kPartial = 1.5e12;  // bytes per second of partial sums that it adds

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
    double const compute = 1e-6 * double(ceil_div(tiles, slots)) * (t.per_tile + double(steps) * step),
                 memory = operand_bytes(g) / (device.copy_gbps * 1e9);
    // Both overlap in part.
    return 1e-6 * t.launch + std::hypot(compute, memory) +
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
};

}  // namespace inlay::model
