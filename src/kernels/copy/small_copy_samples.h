// Samples of small copies: few blocks make the same accesses, so some blocks stand for all.
#pragma once
#include <inlay/kernels/copy/copy_elements.h>
#include <inlay/kernels/copy/copy_small_tile.h>
#include <inlay/kernels/copy/tile_grid_samples.h>

namespace inlay::kernels {

template <class T, int RANK, int EACH, class Step>
struct Kinds<CopyElements<T, RANK, EACH, Step>> : SomeBlocks {};
template <class T, int TILE_A, int TILE_B, int THREADS, class Step>
struct Kinds<CopySmallTile<T, TILE_A, TILE_B, THREADS, Step>> : SomeBlocks {};

}  // namespace inlay::kernels
