#include <inlay/kernels/kernel_list.h>
#include <inlay/registry/registry.h>

#include <vector>

// Declares the replays of the library's kernels.
#define INLAY_UNIT(NAME, PTXAS, ARCH)

#define INLAY_KERNEL(NAME) INLAY_DECLARE_REPLAY(Copy, NAME)
#define INLAY_INSTANCE(NAME, FAMILY, VALUES) INLAY_DECLARE_REPLAY(Copy, NAME)
#include <inlay/kernels/copy/kernels.def>
#undef INLAY_KERNEL
#undef INLAY_INSTANCE
#define INLAY_KERNEL(NAME) INLAY_DECLARE_REPLAY(Gemm, NAME)
#define INLAY_INSTANCE(NAME, FAMILY, VALUES) INLAY_DECLARE_REPLAY(Gemm, NAME)
#include <inlay/kernels/gemm/fma/kernels.def>
#include <inlay/kernels/gemm/tensor/kernels.def>
#undef INLAY_KERNEL
#undef INLAY_INSTANCE
#define INLAY_KERNEL(NAME) INLAY_DECLARE_REPLAY(Reduction, NAME)
#include <inlay/kernels/gemm/fma/reductions.def>
#undef INLAY_KERNEL

namespace inlay::registry {
namespace {

// The steps of the tutorial, then these kernels of the library.
template <class P>
std::vector<Entry<P>> behind(std::span<Entry<P> const> steps, std::initializer_list<Entry<P>> kernels) {
  std::vector<Entry<P>> all(steps.begin(), steps.end());
  all.insert(all.end(), kernels.begin(), kernels.end());
  return all;
}

}  // namespace

#define INLAY_KERNEL(NAME) INLAY_ENTRY(NAME)
#define INLAY_INSTANCE(NAME, FAMILY, VALUES) INLAY_ENTRY(NAME)

// The includes define the order of the kernels.
// clang-format off
std::span<Entry<Copy> const> copy_kernels() {
  static auto const entries = behind<Copy>(copy_steps(), {
#include <inlay/kernels/copy/kernels.def>
  });
  return entries;
}

std::span<Entry<Gemm> const> gemm_kernels() {
  static auto const entries = behind<Gemm>(gemm_steps(), {
#include <inlay/kernels/gemm/tensor/kernels.def>

#include <inlay/kernels/gemm/fma/kernels.def>
  });
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
