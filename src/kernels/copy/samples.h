// How blocks of the kernels of this folder and of the tutorial are sampled.
#pragma once
#include <inlay/kernels/copy/copy_tiled_samples.h>
#include <inlay/kernels/copy/direct_rows_samples.h>
#include <inlay/kernels/copy/interleaved_samples.h>
#include <inlay/kernels/copy/small_copy_samples.h>
#include <inlay/kernels/copy/tile_grid_samples.h>
#include <inlay/kernels/copy/transpose_batched_samples.h>
