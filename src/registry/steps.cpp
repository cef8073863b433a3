#include <inlay/kernels/kernel_list.h>
#include <inlay/registry/registry.h>

// Declares the tutorial's steps and their replays.
#define INLAY_UNIT(NAME, PTXAS, ARCH)

#define INLAY_KERNEL(NAME)         \
  INLAY_DECLARE_KERNEL(Copy, NAME) \
  INLAY_DECLARE_REPLAY(Copy, NAME)
#include <inlay/tutorial/copy/steps.def>
#include <inlay/tutorial/transpose/steps.def>
#undef INLAY_KERNEL
#define INLAY_KERNEL(NAME)         \
  INLAY_DECLARE_KERNEL(Gemm, NAME) \
  INLAY_DECLARE_REPLAY(Gemm, NAME)
#include <inlay/tutorial/hgemm/steps.def>
#include <inlay/tutorial/sgemm/steps.def>
#include <inlay/tutorial/sgemm_tc/steps.def>
#undef INLAY_KERNEL

namespace inlay::registry {

#define INLAY_KERNEL(NAME) INLAY_ENTRY(NAME)

// The includes define the order of the steps.
// clang-format off
std::span<Entry<Copy> const> copy_steps() {
  static Entry<Copy> const entries[] = {
#include <inlay/tutorial/copy/steps.def>
#include <inlay/tutorial/transpose/steps.def>
  };
  return entries;
}

std::span<Entry<Gemm> const> gemm_steps() {
  static Entry<Gemm> const entries[] = {
#include <inlay/tutorial/sgemm/steps.def>
#include <inlay/tutorial/hgemm/steps.def>

#include <inlay/tutorial/sgemm_tc/steps.def>
  };
  return entries;
}
// clang-format on

}  // namespace inlay::registry
