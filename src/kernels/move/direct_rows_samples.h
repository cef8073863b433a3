// Blocks of the rows' kernel, of which few are alike.
#pragma once
#include <inlay/kernels/move/direct_rows.h>
#include <inlay/kernels/parts/tile_grid_samples.h>

namespace inlay::kernels {

template <class T, class Step>
struct Kinds<DirectRows<T, Step>> : SomeBlocks {};

}  // namespace inlay::kernels
