// Any move, in tiles of 64 KB and a little.
#pragma once
#include <inlay/kernels/move/gather_tile.h>

namespace inlay::kernels::permute_04_largest_tile {

struct Step {
  static constexpr TileLimits limits = kLargestTiles;
};
template <class T>
using Kernel = GatherTile<Carrier<T>, Step>;

inline constexpr Info<Move> info = {
    .name = "permute_04_largest_tile",
    .idea = "The same in the largest tiles: rows and lines that begin anywhere touch fewer sectors in part.",
    .source = "inlay",
    .ladder = Ladder::none,
    .origin = Origin::ours,
    .family = "gather_tile",
    .rejects = rejects_wide<Kernel>,
    .seconds = seconds_wide<Kernel>,
};

}  // namespace inlay::kernels::permute_04_largest_tile
