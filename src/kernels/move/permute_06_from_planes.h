// Two to eight planes become columns or channels of a byte, or two and three of 2 bytes.
#pragma once
#include <inlay/kernels/move/interleaved.h>

namespace inlay::kernels::permute_06_from_planes {

struct Step {};  // gives the kernel its name
template <class T>
using Kernel = AnyInterleaved<Carrier<T>, Interleaving::from_planes, Step>;

inline constexpr Info<Move> info = {
    .name = "permute_06_from_planes",
    .idea = "The way back: a thread puts 16 bytes of a few planes together in registers.",
    .source = "inlay",
    .ladder = Ladder::none,
    .origin = Origin::ours,
    .family = "interleaved",
    .rejects = rejects_wide<Kernel>,
    .seconds = seconds_wide<Kernel>,
};

}  // namespace inlay::kernels::permute_06_from_planes
