// The other way: a matrix of up to 64 rows and any number of columns, written as one piece.
#pragma once
#include "kernels/runs_tile.h"

namespace inlay::kernels::transpose_18_few_rows {

struct Step {
  static constexpr bool runs_are_output = false;
};
template <class T>
using Kernel = RunsTile<Carrier<T>, Step>;

inline constexpr Info<Move> info = {
    "transpose_18_few_rows",
    "Few rows: words of each row are scattered into an image of the output, which leaves in one piece.",
    "inlay",
    rejects<Kernel>,
    cost<Kernel>,
    no_workspace};

}  // namespace inlay::kernels::transpose_18_few_rows
