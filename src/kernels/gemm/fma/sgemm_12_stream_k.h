// The tiles of the last waves are cut along k, so that every block has as much to do.
#pragma once
#include <inlay/kernels/gemm/fma/ring.h>

namespace inlay::kernels::sgemm_12_stream_k {

struct Step : RingStep {};
using Kernel = SgemmRing<Step>;

inline constexpr Info<Gemm> info = {
    .name = "sgemm_12_stream_k",
    .idea =
        "The last one to two waves are cut evenly along k (stream-K); parts are added in the order of k through a "
        "workspace: the FMA units limit, and what the shared-memory loads take of their issue slots.",
    .source = "inlay",
    .ladder = Ladder::sgemm,
    .origin = Origin::ours,
    .family = "ring",
    .ptxas = "-O1",
    .rejects = Kernel::rejects,
    .workspace = Kernel::workspace,
};

}  // namespace inlay::kernels::sgemm_12_stream_k
