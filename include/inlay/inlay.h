// All of the library in C++, but mdspan.h, cute.h and nccl.h, which name types of other libraries.
//
// What calls may do, besides throwing Error before anything is launched:
//
//                                 device memory  synchronises  launches  captured    host memory
//   copy, transpose, permute      -              -             1         yes         the first call of a problem
//   copy of lists                 -              -             1 or more yes         each call
//   gemm                          -              -             1 to 4    yes         the first call of a problem
//   gemm with a Workspace         if it grows    -             1 to 4    if reserved the first call of a problem
//   gemm_workspace                -              -             -         meanwhile   the first call of a problem
//   plan                          -              -             -         meanwhile   each call
//   plan with Choose::measured    allocates      yes           many      refused     each call
//   Plan::run                     -              -             as made   yes         -
//   save_, load_, forget_tuning   -              -             -         meanwhile   each call
//
// The launches of a gemm are those of each index of batch modes that do not merge. "meanwhile": allowed while a
// stream is captured, not recorded. The first call on a device asks CUDA for its properties. redistribute.h and
// rank_barrier.h say of their calls themselves.
#pragma once
#include <inlay/banks.h>
#include <inlay/copy.h>
#include <inlay/error.h>
#include <inlay/gemm.h>
#include <inlay/plan.h>
#include <inlay/rank_barrier.h>
#include <inlay/redistribute.h>
#include <inlay/tensor.h>
#include <inlay/tuning.h>
#include <inlay/types.h>
#include <inlay/version.h>
#include <inlay/workspace.h>
