// Predicted times of wgmma_cluster.h on an H200, by which its kernel and the planner choose the tile and the slices.
#pragma once
#include <inlay/model/wgmma_times.h>

namespace inlay::model {

// A tile of hgemm_cluster, and the blocks that share a multiprocessor.
struct ClusterTile {
  int rows, columns, blocks;
  char const *label, *label_of_transpose;
};
inline constexpr ClusterTile kClusterTiles[] = {{64, 16, 2, "64 x 16", "64 x 16, transposed"},
                                                {64, 32, 2, "64 x 32", "64 x 32, transposed"},
                                                {64, 64, 1, "64 x 64", "64 x 64, transposed"},
                                                {128, 64, 1, "128 x 64", "128 x 64, transposed"}};

struct ClusterTimes {
  static constexpr int kMostSlices = 8;

  static std::int64_t slices_of(Gemm const& g) { return g.slice_K ? ceil_div(g.K(), g.slice_K) : 1; }

  // Microseconds, and bytes in one. Fitted to bench/gemm_tiles on 255 aligned GEMMs, half of them of
  // suites/gemm/half_wild.json: the median error of 3,129 times is 7 %, of the worst tenth 23 % and more (docs/log.md).
  static double seconds(Gemm const& g, Device const& device, ClusterTile const& t) {
    constexpr double launch = 1.9, fill = 1.19;            // of the kernel; of a wave, until the first stage is there
    constexpr double step = .1115, step_of_tile = .0358;   // of 64 indices of K; of 64 x 64 elements of the tile in it
    constexpr double end = .543, sum = .472, part = .048;  // of such elements; of slices, and of each of them
    constexpr double of_multiprocessor = 156e3, of_all = 12e6, of_memory = 1.12e-3;  // loads; of a copy's bandwidth
    constexpr double of_split_lines = 1.64;
    std::int64_t const parts = slices_of(g), slots = t.blocks * resident_clusters(device, {int(parts), 1}) * parts,
                       blocks = ceil_div(g.M(), std::int64_t(t.rows)) * ceil_div(g.N(), std::int64_t(t.columns)) *
                                g.L() * parts,
                       steps = ceil_div(g.slice_K ? g.slice_K : g.K(), std::int64_t(64));
    double const busy = double(std::min(blocks, std::int64_t(device.sm_count))),
                 together = std::clamp(double(blocks) / device.sm_count, 1., double(t.blocks)),
                 elements = t.rows * t.columns / 4096.;
    auto const lines = [&](Operand const& o, int rows) { return splits_lines(o) ? of_split_lines * rows : rows; };
    double const loads =
                     128 * (lines(g.A, t.rows) + lines(g.B, t.columns)) / std::min(of_multiprocessor, of_all / busy),
                 all_steps = double(steps) * together * std::max(step + step_of_tile * elements, loads),
                 tiles = double(ceil_div(blocks, slots)) *
                         (fill + all_steps + end * elements * together + (parts > 1 ? sum + part * double(parts) : 0)),
                 memory = operand_bytes(g) / (of_memory * device.copy_gbps * 1e6);
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
  static double of_tile(Gemm const& g, Device const& device, Config const& config) {
    return seconds(g, device, tile(g, device, config));
  }
};

}  // namespace inlay::model
