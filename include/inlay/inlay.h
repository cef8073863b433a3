// All of the library but mdspan.h and cute.h, which name types of other libraries.
//
// What calls may do, besides throwing Error before anything is launched:
//
//                                 device memory  synchronises  launches  captured    host memory
//   copy, transpose, permute      -              -             1         yes         the first call of a problem
//   copy of lists                 -              -             1 or more yes         each call
//   gemm                          -              -             1 to 4    yes         the first call of a problem
//   gemm_workspace, plan          -              -             -         meanwhile   each call
//   plan with Choose::measured    allocates      yes           many      refused     each call
//   Plan::run                     -              -             as made   yes         -
//   save_, load_, forget_tuning   -              -             -         meanwhile   each call
//
// "meanwhile": may be called while a stream is captured, and adds nothing to its graph. The first call on a device asks
// CUDA for its properties.
#pragma once
#include <inlay/banks.h>
#include <inlay/copy.h>
#include <inlay/error.h>
#include <inlay/gemm.h>
#include <inlay/plan.h>
#include <inlay/tensor.h>
#include <inlay/tuning.h>
#include <inlay/types.h>
#include <inlay/version.h>
