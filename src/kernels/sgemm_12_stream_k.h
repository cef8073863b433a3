// The tiles of the last waves are cut along k, so that every block has as much to do.
#pragma once
#include "kernels/sgemm_ring.h"

namespace inlay::kernels::sgemm_12_stream_k {

struct Step : RingStep {};
using Kernel = SgemmRing<Step>;

inline constexpr Info<Gemm> info = {"sgemm_12_stream_k",
                                    "The last one to two waves are cut evenly along k (stream-K); parts are added in "
                                    "the order of k through a workspace: the "
                                    "FMA units limit, and what the shared-memory loads take of their issue slots.",
                                    "inlay",
                                    Kernel::rejects,
                                    nullptr,
                                    Kernel::workspace};

}  // namespace inlay::kernels::sgemm_12_stream_k
