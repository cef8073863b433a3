// Step 03 with three stages: cp.async fills two of them while the third is multiplied.
#pragma once
#include <inlay/tutorial/sgemm/flat_tile.h>

namespace inlay::kernels::sgemm_04_pipelined {

struct Step : FlatStep {
  using FetchA = FetchAlongK<AsyncElement, threads, BLK_K>;
  using FetchB = FetchAlongK<AsyncElement, threads, BLK_K>;
  using SmemA = Stages<BLK_M, BLK_K, 3, 4>;  // (BLK_M,BLK_K,PIPE)
  using SmemB = Stages<BLK_N, BLK_K, 3, 4>;  // (BLK_N,BLK_K,PIPE)
};
using Kernel = FlatTile<Step>;
using Dispatch = Kernel;

inline constexpr Info<Gemm> info = {
    .name = "sgemm_04_pipelined",
    .idea =
        "A pipeline of 4-byte cp.async hides the wait; shared reads of 4 bytes, one for every 4 multiplications, "
        "limit.",
    .source = "worklog, kernel 4: multistage pipelining with cp.async",
    .ladder = Ladder::sgemm,
    .origin = Origin::tutorial,
    .rejects = Kernel::rejects,
};

}  // namespace inlay::kernels::sgemm_04_pipelined
