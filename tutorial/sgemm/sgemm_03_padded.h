// Step 02 with rows of the shared tiles padded by four floats: stores have no bank conflicts.
#pragma once
#include <inlay/tutorial/sgemm/flat_tile.h>

namespace inlay::kernels::sgemm_03_padded {

struct Step : FlatStep {
  using FetchA = FetchAlongK<UniversalCopy<float>, threads, BLK_K>;
  using FetchB = FetchAlongK<UniversalCopy<float>, threads, BLK_K>;
  using SmemA = Stages<BLK_M, BLK_K, 1, 4>;  // (BLK_M,BLK_K,1):(1,BLK_M+4,)
  using SmemB = Stages<BLK_N, BLK_K, 1, 4>;  // (BLK_N,BLK_K,1):(1,BLK_N+4,)
};
using Kernel = FlatTile<Step>;
using Dispatch = Kernel;

inline constexpr Info<Gemm> info = {
    .name = "sgemm_03_padded",
    .idea = "Padded rows: the lanes that store 8 of k meet all banks; what is left is the wait for every tile.",
    .source = "worklog, kernel 3: bank conflict fix",
    .ladder = Ladder::sgemm,
    .origin = Origin::tutorial,
    .rejects = Kernel::rejects,
};

}  // namespace inlay::kernels::sgemm_03_padded
