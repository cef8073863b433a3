// What the steps of the copy and transpose ladders share: they are for elements of 4 bytes, as in the tutorials.
// Kernels of the library take the other sizes.
#pragma once
#include <inlay/kernels/common/dispatch.h>

namespace inlay::kernels {

template <class Kernel>
Reason rejects_at_any_size(Copy const& copy, Device const& device) {
  if (copy.elements() == 0) return {};
  return Kernel::rejects(copy, device);
}
template <class Kernel>
Reason rejects_step(Copy const& copy, Device const& device) {
  if (copy.elem_bytes != 4)
    return {"a step of the tutorial copies elements of 4 bytes, not of {}; kernels of the library take any",
            {copy.elem_bytes}};
  return rejects_at_any_size<Kernel>(copy, device);
}

}  // namespace inlay::kernels
