// Any GEMM, one element of D per thread: for what all other kernels reject, and for K == 0.
#pragma once
#include <inlay/kernels/gemm/fma/simple.h>
#include <inlay/model/fma_times.h>

namespace inlay::kernels::sgemm_simple {

inline constexpr FmaTimes times{.block = .71, .alone = 1.12, .busy = .27};
// Lanes lie along n: a B that is contiguous along k takes a sector each, most of which the L1 keeps.
inline double seconds(Gemm const& g, Device const& device) {
  return FmaTiles{8, 32, 1, 8}.seconds(times, g.B.row_stride == 1 ? 1 : 2, g, device);
}

struct Step {};
using Kernel = SgemmSimple<Step>;
using Dispatch = Kernel;

inline constexpr Info<Gemm> info = {
    .name = "sgemm_simple",
    .idea = "One element of D to a thread: takes every problem, also K == 0.",
    .source = "inlay",
    .ladder = Ladder::sgemm,
    .origin = Origin::ours,
    .rejects = Kernel::rejects,
    .seconds = seconds,
};

}  // namespace inlay::kernels::sgemm_simple
