#include <inlay/planner/kernel_list.h>
#include <inlay/registry/registry.h>

// Declares the tutorial's steps, and the replays of all kernels.
#define INLAY_UNIT(NAME, PTXAS, ARCH)
#define INLAY_DECLARE_REPLAY(P, NAME)                             \
  namespace inlay::kernels::NAME {                                \
  void replay(P const&, Device const&, inlay::replay::Recorder&); \
  void sample(P const&, Device const&, inlay::replay::Recorder&); \
  }

#define INLAY_KERNEL(NAME) INLAY_DECLARE_KERNEL(Copy, NAME)
#include <inlay/tutorial/copy/steps.def>
#include <inlay/tutorial/transpose/steps.def>
#undef INLAY_KERNEL
#define INLAY_KERNEL(NAME) INLAY_DECLARE_REPLAY(Copy, NAME)
#define INLAY_INSTANCE(NAME, FAMILY, VALUES) INLAY_DECLARE_REPLAY(Copy, NAME)
#include <inlay/kernels/copy/kernels.def>
#include <inlay/tutorial/copy/steps.def>
#include <inlay/tutorial/transpose/steps.def>
#undef INLAY_KERNEL
#undef INLAY_INSTANCE

#define INLAY_KERNEL(NAME) INLAY_DECLARE_KERNEL(Gemm, NAME)
#include <inlay/tutorial/hgemm/steps.def>
#include <inlay/tutorial/sgemm/steps.def>
#include <inlay/tutorial/sgemm_tc/steps.def>

#undef INLAY_KERNEL
#define INLAY_KERNEL(NAME) INLAY_DECLARE_REPLAY(Gemm, NAME)
#define INLAY_INSTANCE(NAME, FAMILY, VALUES) INLAY_DECLARE_REPLAY(Gemm, NAME)
#include <inlay/kernels/gemm/fma/kernels.def>
#include <inlay/kernels/gemm/tensor/kernels.def>
#include <inlay/tutorial/hgemm/steps.def>
#include <inlay/tutorial/sgemm/steps.def>
#include <inlay/tutorial/sgemm_tc/steps.def>

#undef INLAY_KERNEL
#undef INLAY_INSTANCE
#define INLAY_KERNEL(NAME) INLAY_DECLARE_REPLAY(Reduction, NAME)
#include <inlay/kernels/gemm/fma/reductions.def>

#undef INLAY_KERNEL

namespace inlay::registry {

#define INLAY_KERNEL(NAME) {kernels::NAME::kernel(), kernels::NAME::replay, kernels::NAME::sample},
#define INLAY_INSTANCE(NAME, FAMILY, VALUES) INLAY_KERNEL(NAME)

// The includes define the order of the kernels.
// clang-format off
std::span<Entry<Copy> const> copy_kernels() {
  static Entry<Copy> const entries[] = {
#include <inlay/tutorial/copy/steps.def>
#include <inlay/tutorial/transpose/steps.def>
#include <inlay/kernels/copy/kernels.def>
  };
  return entries;
}

std::span<Entry<Gemm> const> gemm_kernels() {
  static Entry<Gemm> const entries[] = {
#include <inlay/tutorial/sgemm/steps.def>
#include <inlay/tutorial/hgemm/steps.def>
#include <inlay/tutorial/sgemm_tc/steps.def>

#include <inlay/kernels/gemm/tensor/kernels.def>

#include <inlay/kernels/gemm/fma/kernels.def>
  };
  return entries;
}

std::span<Entry<Reduction> const> reductions() {
  static Entry<Reduction> const entries[] = {
#include <inlay/kernels/gemm/fma/reductions.def>
  };
  return entries;
}
// clang-format on

}  // namespace inlay::registry
