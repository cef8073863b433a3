// How blocks of the kernels of this folder and of the tutorial are sampled.
#pragma once
#include <inlay/kernels/gemm/fma/cluster_samples.h>
#include <inlay/kernels/gemm/fma/ring_samples.h>
#include <inlay/kernels/gemm/fma/split_samples.h>
#include <inlay/kernels/gemm/fma/tile_samples.h>
