// An operand that is contiguous in k is transposed inside the kernel, so that nn and tt need no packing.
#pragma once
#include <inlay/kernels/gemm/fma/ring.h>

namespace inlay::kernels::sgemm_tma_transposing {

// The transposed side is the tile's shorter one: it costs helper warps and shared memory.
struct StepA : RingStep {
  static constexpr Transposed transposed = Transposed::A;
};
struct StepB : RingStep {
  static constexpr int WARPS_M = 4, WARPS_N = 2;
  static constexpr Transposed transposed = Transposed::B;
};

// Chooses the operand to transpose: A if it is contiguous in k, otherwise B.
struct Choice {
  template <class F>
  static auto with(Gemm const& g, Device const&, Config const&, F const& f) {
    return g.A.col_stride == 1 ? f(std::type_identity<SgemmRing<StepA>>{}) : f(std::type_identity<SgemmRing<StepB>>{});
  }
};
using Kernel = OneOf<Choice>;
using Dispatch = Kernel;

inline constexpr Info<Gemm> info = {
    .name = "sgemm_tma_transposing",
    .idea =
        "As sgemm_tma_stream_k where one operand is contiguous in k: TMA loads it unchanged, three helper warps "
        "transpose 4 x 4 "
        "elements at a time; their shared-memory traffic comes on top.",
    .source = "inlay",
    .ladder = Ladder::sgemm,
    .origin = Origin::ours,
    .rejects = Kernel::rejects,
    .seconds = Kernel::seconds,
    .workspace = Kernel::workspace,
};

}  // namespace inlay::kernels::sgemm_tma_transposing
