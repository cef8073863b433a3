// The other way: a matrix of up to 64 rows and any number of columns, written as one piece.
#pragma once
#include <inlay/kernels/move/runs_tile.h>

namespace inlay::kernels::transpose_18_few_rows {

struct Step {
  static constexpr bool runs_are_output = false;
};
template <class T>
using Kernel = RunsTile<Carrier<T>, Step>;

inline constexpr Info<Move> info = {
    .name = "transpose_18_few_rows",
    .idea = "Few rows: words of each row are scattered into an image of the output, which leaves in one piece.",
    .source = "inlay",
    .ladder = Ladder::transpose,
    .origin = Origin::ours,
    .family = "runs_tile",
    .rejects = rejects<Kernel>,
    .counts = counts<Kernel>,
};

}  // namespace inlay::kernels::transpose_18_few_rows
