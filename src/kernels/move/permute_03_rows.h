// Any move without shared memory: rows, repeated elements, gathers; and whatever nobody else takes.
#pragma once
#include <inlay/kernels/move/direct_rows.h>

namespace inlay::kernels::permute_03_rows {

struct Step {};  // gives the kernel its name
template <class T>
using Kernel = DirectRows<Carrier<T>, Step>;

inline constexpr Info<Move> info = {
    .name = "permute_03_rows",
    .idea = "Any move without shared memory: a thread writes 16 bytes, wherever they come from.",
    .source = "inlay",
    .ladder = Ladder::none,
    .origin = Origin::ours,
    .family = "direct_rows",
    .rejects = rejects_wide<Kernel>,
    .seconds = seconds_wide<Kernel>,
};

}  // namespace inlay::kernels::permute_03_rows
