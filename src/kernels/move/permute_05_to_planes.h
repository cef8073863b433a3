// Two to eight columns or channels of a byte become planes, or two and three of 2 bytes.
#pragma once
#include <inlay/kernels/move/interleaved.h>

namespace inlay::kernels::permute_05_to_planes {

struct Step {};  // gives the kernel its name
template <class T>
using Kernel = AnyInterleaved<Carrier<T>, Interleaving::to_planes, Step>;

inline constexpr Info<Move> info = {
    .name = "permute_05_to_planes",
    .idea = "A few columns or channels become planes: a thread takes 16 bytes of each apart in registers.",
    .source = "inlay",
    .ladder = Ladder::none,
    .origin = Origin::ours,
    .family = "interleaved",
    .rejects = rejects_wide<Kernel>,
    .seconds = seconds_wide<Kernel>,
};

}  // namespace inlay::kernels::permute_05_to_planes
