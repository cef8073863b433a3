// Blocks of the rows' kernel, of which few are alike.
#pragma once
#include <inlay/kernels/common/tile_grid_samples.h>
#include <inlay/kernels/copy/direct_rows.h>

namespace inlay::kernels {

template <class T, class Step>
struct Kinds<DirectRows<T, Step>> : SomeBlocks {};

}  // namespace inlay::kernels
