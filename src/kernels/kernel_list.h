// Declares the kernels of the library from their lists: kernels::NAME::kernel for each line.
#pragma once
#include <inlay/model/kernel_info.h>
#include <inlay/problem/reduction.h>

// Defined in the kernel's compilation unit, by INLAY_DEFINE_KERNEL of kernels/common/launch_kernel.h.
#define INLAY_DECLARE_KERNEL(P, NAME)                 \
  namespace inlay::kernels::NAME {                    \
  using namespace problem;                            \
  extern model::Info<inlay::problem::P> const kernel; \
  }

#define INLAY_UNIT(NAME, PTXAS, ARCH)

#define INLAY_KERNEL(NAME) INLAY_DECLARE_KERNEL(Copy, NAME)
#define INLAY_INSTANCE(NAME, FAMILY, VALUES) INLAY_DECLARE_KERNEL(Copy, NAME)
#include <inlay/kernels/copy/kernels.def>
#undef INLAY_KERNEL
#undef INLAY_INSTANCE

#define INLAY_KERNEL(NAME) INLAY_DECLARE_KERNEL(Gemm, NAME)
#define INLAY_INSTANCE(NAME, FAMILY, VALUES) INLAY_DECLARE_KERNEL(Gemm, NAME)
#include <inlay/kernels/gemm/fma/kernels.def>
#include <inlay/kernels/gemm/tensor/kernels.def>
#undef INLAY_KERNEL
#undef INLAY_INSTANCE

#define INLAY_KERNEL(NAME) INLAY_DECLARE_KERNEL(Reduction, NAME)
#include <inlay/kernels/gemm/fma/reductions.def>
#undef INLAY_KERNEL
#undef INLAY_UNIT
