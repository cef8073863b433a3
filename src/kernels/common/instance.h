// A line of a list of kernels, as C++: see kernels/copy/kernels.def.
#pragma once
#include <inlay/kernels/common/dispatch.h>

// The namespace that INLAY_INSTANCE(NAME, FAMILY, VALUES) stands for. Instance is a type of its own, so that the kernel's
// symbol has its name.
#define INLAY_DEFINE_INSTANCE(NAME, FAMILY, VALUES)           \
  namespace inlay::kernels::NAME {                            \
  struct Instance : VALUES {};                                \
  using Dispatch = FAMILY::Dispatch<Instance>;                \
  inline constexpr auto info = FAMILY::info<Instance>(#NAME); \
  }
