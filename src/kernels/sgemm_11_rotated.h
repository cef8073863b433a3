// A main loop of two slices, rotated: the slice that is loaded is multiplied in the next turn, also across stages.
#pragma once
#include "kernels/sgemm_ring.h"

namespace inlay::kernels::sgemm_11_rotated {

struct Step : RingStep {
  static constexpr bool stream_k = false;
};
using Kernel = SgemmRing<Step>;

inline constexpr Info<Gemm> info = {"sgemm_11_rotated",
                                    "The main loop is two slices, 272 instructions: accumulators stay in their "
                                    "registers, and FFMAs find two of three operands "
                                    "reused or in different banks; the last wave of tiles leaves multiprocessors idle.",
                                    "inlay",
                                    Kernel::rejects,
                                    nullptr,
                                    Kernel::workspace};

}  // namespace inlay::kernels::sgemm_11_rotated
