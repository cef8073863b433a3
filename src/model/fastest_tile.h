// What the predicted times of a kernel have in common whose tiles have nothing else to choose.
#pragma once
#include <inlay/model/config.h>
#include <inlay/model/device.h>
#include <inlay/problem/gemm.h>

#include <algorithm>
#include <iterator>

namespace inlay::model {
using namespace problem;

// The configured tile, or the one that is predicted to be the fastest. Times: seconds_of(g, device, one of `tiles`).
template <class Times, auto const& tiles>
struct FastestTile {
  static auto const& tile(Gemm const& g, Device const& device, Config const& config) {
    if (config.tile) return tiles[config.tile - 1];
    return *std::min_element(std::begin(tiles), std::end(tiles), [&](auto const& a, auto const& b) {
      return Times::seconds_of(g, device, a) < Times::seconds_of(g, device, b);
    });
  }
  static Config choose(Gemm const& g, Device const& device, Config const& config) {
    return {.tile = int(&tile(g, device, config) - std::begin(tiles)) + 1};
  }
  static double seconds(Gemm const& g, Device const& device, Config const& config) {
    return Times::seconds_of(g, device, tile(g, device, config));
  }
};

}  // namespace inlay::model
