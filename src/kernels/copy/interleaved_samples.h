// Samples of Interleaved: some blocks stand for all; blocks differ at the ends of the planes.
#pragma once
#include <inlay/kernels/copy/interleaved.h>
#include <inlay/kernels/copy/tile_grid_samples.h>

namespace inlay::kernels {

template <class T, int R, Interleaving direction, class Step>
struct Kinds<Interleaved<T, R, direction, Step>> : SomeBlocks {};

}  // namespace inlay::kernels
