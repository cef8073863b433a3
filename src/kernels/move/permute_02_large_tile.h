// Any move, in tiles of 36 KB and a little.
#pragma once
#include <inlay/kernels/move/gather_tile.h>

namespace inlay::kernels::permute_02_large_tile {

struct Step {
  static constexpr TileLimits limits = kLargeTiles;
};
template <class T>
using Kernel = GatherTile<Carrier<T>, Step>;

inline constexpr Info<Move> info = {
    .name = "permute_02_large_tile",
    .idea = "The same in larger tiles: for modes that are long on both sides, or odd.",
    .source = "inlay",
    .ladder = Ladder::none,
    .origin = Origin::ours,
    .family = "gather_tile",
    .rejects = rejects_wide<Kernel>,
    .seconds = seconds_wide<Kernel>,
};

}  // namespace inlay::kernels::permute_02_large_tile
