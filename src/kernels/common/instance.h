// The C++ definition behind an INLAY_INSTANCE line of a kernel list, such as kernels/copy/kernels.def.
#pragma once
#include <inlay/kernels/common/dispatch.h>

// Defines the namespace of INLAY_INSTANCE(NAME, FAMILY, VALUES). Instance is a distinct type, so that the symbol of the
// device kernel contains NAME.
#define INLAY_DEFINE_INSTANCE(NAME, FAMILY, VALUES)           \
  namespace inlay::kernels::NAME {                            \
  struct Instance : VALUES {};                                \
  using Dispatch = FAMILY::Dispatch<Instance>;                \
  inline constexpr auto info = FAMILY::info<Instance>(#NAME); \
  }
