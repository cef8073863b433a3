// Samples of DirectRows: few blocks make the same accesses, so some blocks stand for all.
#pragma once
#include <inlay/kernels/copy/direct_rows.h>
#include <inlay/kernels/copy/tile_grid_samples.h>

namespace inlay::kernels {

template <class T, class Step>
struct Kinds<DirectRows<T, Step>> : SomeBlocks {};

}  // namespace inlay::kernels
