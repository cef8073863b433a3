// Predicted times of hgemm_groups, by which its width is chosen: those of the same tiles for one matrix, with half a
// tile more for each group.
#pragma once
#include <inlay/model/wgmma_times.h>

namespace inlay::model {

struct GroupTimes {
  static constexpr WgmmaTile const* kTiles[] = {&kWgmmaTiles[1], &kWgmmaTiles[6]};
  static_assert(kTiles[0]->width == 256 && kTiles[1]->width == 128 && kTiles[0]->cluster.blocks() == 1 &&
                kTiles[1]->cluster.blocks() == 1);

  static WgmmaTile const& tile(Gemm const& g, Device const& device, Config const& config) {
    return *kTiles[choose(g, device, config).tile - 1];
  }
  static Config choose(Gemm const& g, Device const& device, Config const& config) {
    if (config.tile) return config;
    return {.tile = seconds(g, device, {.tile = 2}) < seconds(g, device, {.tile = 1}) ? 2 : 1};
  }
  static double seconds(Gemm const& g, Device const& device, Config const& config) {
    WgmmaTile const& t = tile(g, device, config);
    Gemm all = g;
    all.D.rows = all.A.rows = g.M() + 64 * g.groups;
    return WgmmaTimes::seconds(all, device, t, t.width);
  }
};

}  // namespace inlay::model
