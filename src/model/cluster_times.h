// Predicted times of wgmma_cluster.h on an H200, by which its kernel and the planner choose the tile and the slices.
#pragma once
#include <inlay/model/wgmma_times.h>

namespace inlay::model {

// A tile of hgemm_cluster, and the blocks that share a multiprocessor. In microseconds: a wave's time until the first
// stage is there; 64 indices of K, if wgmma decides; the end of a tile; the sum over slices, and what each slice adds
// to it. Thousands of bytes that a multiprocessor loads in a microsecond, and that all of them load. Fitted with
// the constants of wgmma_times.h, which says how.
struct ClusterTile {
  int rows, columns, blocks;
  double fill, step, end, sum, part, of_multiprocessor, of_all;
  char const *label, *label_of_transpose;
};
inline constexpr ClusterTile kClusterTiles[] = {
    // clang-format off
    {64,  16,  2, 1.10, .110, .11, .44, .031, 111, 12600, "64 x 16", "64 x 16, transposed"},
    {64,  32,  2, 1.24, .162, .04, .76, .041, 125, 10100, "64 x 32", "64 x 32, transposed"},
    {64,  64,  1, 1.23, .025, .70, .23, .016, 117, 12400, "64 x 64", "64 x 64, transposed"},
    {128, 64,  1, 1.66, .277, 1.15, .21, .030, 113, 13500, "128 x 64", "128 x 64, transposed"},
    {128, 128, 1, 2.73, .327, 1.50, .40, .140, 115, 12300, "128 x 128", "128 x 128, transposed"},
    // clang-format on
};

struct ClusterTimes {
  static constexpr int kMostSlices = 8;

  static std::int64_t slices_of(Gemm const& g) { return g.slice_K ? ceil_div(g.K(), g.slice_K) : 1; }

  static double seconds(Gemm const& g, Device const& device, ClusterTile const& t) {
    return seconds(g, device, t, columns(g, device, t));
  }
  // The columns of a tile that may have fewer, 0 for others.
  static int width(ClusterTile const& t) { return t.columns < 64 ? 0 : t.columns; }
  static int width(int tile) { return width(kClusterTiles[tile - 1]); }
  // The configured columns of a tile, or those with which it is predicted to take the least time.
  static int columns(Gemm const& g, Device const& device, ClusterTile const& t, Config const& config = {}) {
    if (!width(t)) return t.columns;
    if (config.columns) return config.columns;
    if (!takes_fewer_columns(g.B)) return t.columns;
    return fastest_columns(t.columns, [&](int columns) { return microseconds_of_tiles(g, device, t, columns); });
  }
  static double seconds(Gemm const& g, Device const& device, ClusterTile const& t, int columns) {
    constexpr double launch = .76;      // microseconds
    constexpr double of_memory = 1.34;  // of a copy's bandwidth: above 1, since the rest is added on top
    double const tiles = microseconds_of_tiles(g, device, t, columns),
                 memory = operand_bytes(g) / (of_memory * device.copy_gbps * 1e3);
    // Both overlap in part.
    return 1e-6 * (launch + std::pow(std::pow(tiles, 1.5) + std::pow(memory, 1.5), 1 / 1.5));
  }

  // The configured tile, or the one that is predicted to be the fastest.
  static ClusterTile const& tile(Gemm const& g, Device const& device, Config const& config) {
    if (config.tile) return kClusterTiles[config.tile - 1];
    return *std::min_element(std::begin(kClusterTiles), std::end(kClusterTiles), [&](auto const& a, auto const& b) {
      return seconds(g, device, a) < seconds(g, device, b);
    });
  }
  static Config choose(Gemm const& g, Device const& device, Config const& config) {
    ClusterTile const& t = tile(g, device, config);
    int const fewer = columns(g, device, t, config);
    return {.tile = int(&t - kClusterTiles) + 1, .columns = fewer == t.columns ? 0 : fewer};
  }
  static double of_tile(Gemm const& g, Device const& device, Config const& config) {
    ClusterTile const& t = tile(g, device, config);
    return seconds(g, device, t, columns(g, device, t, config));
  }

 private:
  // The waves of blocks, one after the other, if memory takes no time.
  static double microseconds_of_tiles(Gemm const& g, Device const& device, ClusterTile const& t, int columns) {
    constexpr double of_split_lines = 1.76;  // lines that a row takes if it begins within one
    constexpr double line = .128;            // thousands of bytes
    std::int64_t const parts = slices_of(g), slots = t.blocks * resident_clusters(device, {int(parts), 1}) * parts,
                       blocks = ceil_div(g.M(), std::int64_t(t.rows)) * ceil_div(g.N(), std::int64_t(columns)) * g.L() *
                                parts,
                       steps = ceil_div(g.slice_K ? g.slice_K : g.K(), std::int64_t(64));
    double const busy = double(std::min(blocks, std::int64_t(device.sm_count))),
                 together = std::clamp(double(blocks) / device.sm_count, 1., double(t.blocks));
    auto const lines = [&](Operand const& o, double rows) { return splits_lines(o) ? of_split_lines * rows : rows; };
    double const arrives = line * (lines(g.A, t.rows) + lines(g.B, lines_of_columns(g.B, columns))) /
                           std::min(t.of_multiprocessor, t.of_all / busy),
                 multiplies = t.step * (columns + 50) / (t.columns + 50);
    return double(ceil_div(blocks, slots)) *
           (t.fill + (double(steps) * std::max(multiplies, arrives) + t.end) * together +
            (parts > 1 ? t.sum + t.part * double(parts) : 0));
  }
};

}  // namespace inlay::model
