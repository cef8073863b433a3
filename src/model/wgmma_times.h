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

// Whether TMA stores tiles of D.
inline bool is_for_tma(Operand const& D) {
  std::int64_t const pitch = D.col_stride == 1 ? D.row_stride : D.col_stride, size = bytes_of(D.type);
  return size == 2 && D.misalignment_bytes() == 0 && pitch * size % 16 == 0 &&
         (D.matrices == 1 || D.batch_stride * size % 16 == 0);
}

// A tile may have this many columns fewer than its kernel's width, in steps, so that it divides N or the waves are
// full.
inline constexpr int kColumnStep = 16, kFewerColumns = 48;

// Whether TMA loads rows of the operand that lie along K, and not slabs of 64 along m or n; one index of K is
// contiguous along m or n.
inline bool loads_along_K(Operand const& o) { return o.row_stride != 1 || (o.col_stride == 1 && o.cols > 1); }
// Whether a tile may have fewer columns than its width. Slabs would begin within lines where they do not otherwise:
// 8193 x 8193 x 8193 in tiles of 208 columns took 1.3 of its time.
inline bool takes_fewer_columns(Operand const& B) { return loads_along_K(B) || splits_lines(B); }
// Lines of 128 bytes that a tile loads of B for 64 indices of K: all of each slab, or one for each of its columns.
inline double lines_of_columns(Operand const& B, int columns) {
  return loads_along_K(B) ? columns : double(round_up(columns, 64));
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

// The columns of a tile, `width` or some fewer, that have the least seconds(columns); the most among equals.
int fastest_columns(int width, auto const& seconds) {
  int best = width;
  double least = seconds(width);
  for (int columns = width - kColumnStep; columns >= width - kFewerColumns; columns -= kColumnStep)
    if (double const s = seconds(columns); s < least) least = s, best = columns;
  return best;
}

struct WgmmaTimes {
  static constexpr double kSum = 2.1e-6;      // seconds of sum_slices, launched before the GEMM has ended
  static constexpr double kPartial = 1.5e12;  // bytes per second of partial sums that it adds

  // The time of g in its slices, with the reduction that adds them, in tiles of these columns.
  static double seconds(Gemm const& g, Device const& device, WgmmaTile const& t, int columns) {
    double const elements = double(g.elements()), compute = 1e-6 * microseconds_of_tiles(g, device, t, columns),
                 memory = operand_bytes(g) / (device.copy_gbps * 1e9);
    // Both overlap in part.
    return 1e-6 * t.launch + std::hypot(compute, memory) +
           (g.slices > 1 ? kSum + elements * 4 * (g.slices + .5) / kPartial : 0);
  }
  static double seconds(Gemm const& g, Device const& device, WgmmaTile const& t) {
    return seconds(g, device, t, columns(g, device, t));
  }
  // The configured columns of a tile, or those with which it is predicted to take the least time; all of them in a
  // batch, to whose matrices TMA stores no tiles of fewer.
  static int columns(Gemm const& g, Device const& device, WgmmaTile const& t, Config const& config = {}) {
    if (config.columns) return config.columns;
    if (g.L() > 1 || !takes_fewer_columns(g.B)) return t.width;
    return fastest_columns(t.width, [&](int columns) { return microseconds_of_tiles(g, device, t, columns); });
  }

  static int width(int tile) { return kWgmmaTiles[tile - 1].width; }
  // The configured tile, or the one that is predicted to be the fastest.
  static WgmmaTile const& tile(Gemm const& g, Device const& device, Config const& config) {
    if (config.tile) return kWgmmaTiles[config.tile - 1];
    return *std::min_element(std::begin(kWgmmaTiles), std::end(kWgmmaTiles), [&](auto const& a, auto const& b) {
      return seconds(g, device, a) < seconds(g, device, b);
    });
  }
  static Config choose(Gemm const& g, Device const& device, Config const& config) {
    WgmmaTile const& t = tile(g, device, config);
    int const fewer = columns(g, device, t, config);
    return {.tile = int(&t - kWgmmaTiles) + 1, .columns = fewer == t.width ? 0 : fewer};
  }
  static double of_tile(Gemm const& g, Device const& device, Config const& config) {
    WgmmaTile const& t = tile(g, device, config);
    return seconds(g, device, t, columns(g, device, t, config));
  }

 private:
  // The tiles of a block, one after the other, if memory takes no time.
  static double microseconds_of_tiles(Gemm const& g, Device const& device, WgmmaTile const& t, int columns) {
    std::int64_t const slots = resident_clusters(device, t.cluster),
                       tiles = ceil_div(g.M(), std::int64_t(128 * t.cluster.m)) *
                               ceil_div(g.N(), std::int64_t(columns * t.cluster.n)) * g.L() * g.slices,
                       steps = ceil_div(g.slices > 1 ? g.slice_K : g.K(), std::int64_t(64));
    double const busy = std::min(1., double(tiles) / double(slots));
    // Lines of A and B that a block loads; those that begin within lines of 128 bytes take two each.
    auto const lines = [&](Operand const& o, double rows, int blocks) {
      return (splits_lines(o) ? 2. : 1.) * rows / blocks;
    };
    double const
        loads = lines(g.A, 128, t.cluster.n) + lines(g.B, lines_of_columns(g.B, columns), t.cluster.m),
        // wgmma's time has a part that no column saves: for 64 to 256 columns it is .1 us and .002 us a column.
        multiplies = t.per_64_k * (columns + 50) / (t.width + 50) * (1 - t.idle * (1 - busy)),
        arrives = 1e-3 * t.per_1000_lines * loads * (busy < 1 ? std::pow(busy, t.busy) : 1);
    double const rounds = double(ceil_div(tiles, slots)),
                 each = t.per_tile + double(steps) * std::max(multiplies, arrives);
    // At short K the end of a tile decides. Fitted to batches of 16 to 77 rows, with every tile forced.
    double const end = is_for_tma(g.D) ? .75 + .0045 * columns : 1.13 + .0137 * columns;
    return rounds * (rounds > 1 ? std::max(each, end) : each);
  }
};

}  // namespace inlay::model
