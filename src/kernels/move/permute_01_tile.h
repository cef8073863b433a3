// Any move, in tiles of 16 KB and a little.
#pragma once
#include <inlay/kernels/move/gather_tile.h>

namespace inlay::kernels::permute_01_tile {

struct Step {
  static constexpr TileLimits limits = kSmallTiles;
};
template <class T>
using Kernel = GatherTile<Carrier<T>, Step>;

inline constexpr Info<Move> info = {
    .name = "permute_01_tile",
    .idea =
        "Any layout to any other: rows of the source go into shared memory as they lie, lines of the destination are "
        "gathered from it.",
    .source = "inlay",
    .ladder = Ladder::none,
    .origin = Origin::ours,
    .family = "gather_tile",
    .rejects = rejects_wide<Kernel>,
    .seconds = seconds_wide<Kernel>,
};

}  // namespace inlay::kernels::permute_01_tile
