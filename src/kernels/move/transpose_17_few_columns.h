// A matrix of up to 64 columns and any number of rows, such as RGB pixels: read as one piece, written as so many long rows.
#pragma once
#include <inlay/kernels/move/runs_tile.h>

namespace inlay::kernels::transpose_17_few_columns {

struct Step {
  static constexpr bool runs_are_output = true;
};
template <class T>
using Kernel = RunsTile<Carrier<T>, Step>;

inline constexpr Info<Move> info = {
    .name = "transpose_17_few_columns",
    .idea =
        "Few columns: a piece of the input goes into shared memory as it lies, and whole words of each column come "
        "out.",
    .source = "inlay",
    .ladder = Ladder::transpose,
    .origin = Origin::ours,
    .family = "runs_tile",
    .rejects = rejects<Kernel>,
    .counts = counts<Kernel>,
};

}  // namespace inlay::kernels::transpose_17_few_columns
