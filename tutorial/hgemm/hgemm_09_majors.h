// Step 08 for any transposes: an operand that is contiguous along m or n is loaded without packing, and wgmma reads it
// transposed.
#pragma once
#include <inlay/kernels/gemm/tensor/wgmma_ring.h>

namespace inlay::kernels::hgemm_09_majors {

struct Step : WgmmaRingStep {
  static constexpr int BLK_N = 256, PIPE = 4, consumers = 2, min_blocks = 1, band = 8, cluster = 2;
  static constexpr bool persistent = true, stores_by_tma = true;
};
template <class T>
struct Kernel : OneOf<ByMajors<Step, T>> {};
using Dispatch = ByHalfType<Kernel>;

inline constexpr Info<Gemm> info = {
    .name = "hgemm_09_majors",
    .idea =
        "Operands that are contiguous along m or n stay so in shared memory, and the descriptors of wgmma say it: the "
        "four transposes cost the same, without packing.",
    .source = "inlay",
    .ladder = Ladder::hgemm,
    .origin = Origin::ours,
    .rejects = Dispatch::rejects,
};

}  // namespace inlay::kernels::hgemm_09_majors
