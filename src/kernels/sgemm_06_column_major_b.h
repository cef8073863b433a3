// Step 05 for a B that is contiguous in k: lanes that run along k now find their elements side by side.
#pragma once
#include "kernels/sgemm_tile.h"

namespace inlay::kernels::sgemm_06_column_major_b {

struct Step : WarpTiledStep {
  using FetchA = FetchAlongK<AsyncElement, threads, BLK_K>;
  using FetchB = FetchAlongK<AsyncElement, threads, BLK_K>;
  using SmemA = Stages<BLK_M, BLK_K, 3, 4>;  // (BLK_M,BLK_K,PIPE)
  using SmemB = Stages<BLK_N, BLK_K, 3, 4>;  // (BLK_N,BLK_K,PIPE)
};
using Kernel = SgemmTile<Step>;

inline Reason rejects(Gemm const& g, Device const& device) {
  if (g.b_k != 1 && g.K > 1) return {"B's rows are not contiguous in k: their elements are {} apart", {g.b_k}};
  return Kernel::rejects(g, device);
}

inline constexpr Info<Gemm> info = {"sgemm_06_column_major_b",
                                    "B stored column-major (nt): the copies of both operands are coalesced; the issue "
                                    "slots of 4-byte copies and shared reads limit.",
                                    "worklog, kernel 6: column-major layout",
                                    rejects,
                                    nullptr,
                                    no_workspace};

}  // namespace inlay::kernels::sgemm_06_column_major_b
