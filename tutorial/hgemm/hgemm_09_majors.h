// Step 08 for any transposes: an operand that is contiguous along m or n is loaded without packing, and wgmma reads it transposed.
#pragma once
#include <inlay/tutorial/hgemm/hgemm_08_tma_store.h>

namespace inlay::kernels::hgemm_09_majors {

struct Step : hgemm_08_tma_store::Step {};
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
