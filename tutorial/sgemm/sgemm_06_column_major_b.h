// Step 05 restricted to B contiguous along k: lanes run along k and load contiguous elements.
#pragma once
#include <inlay/tutorial/sgemm/sgemm_05_warp_tiled.h>

namespace inlay::kernels::sgemm_06_column_major_b {

struct Step : sgemm_05_warp_tiled::Step {};  // only rejects() differs
using Kernel = SgemmTile<Step>;

inline Reason rejects(Gemm const& g, Device const& device) {
  if (g.B.col_stride != 1 && g.K() > 1)
    return {"B's rows are not contiguous in k: their elements are {} apart", {g.B.col_stride}};
  return Kernel::rejects(g, device);
}
using Dispatch = Kernel;

inline constexpr Info<Gemm> info = {
    .name = "sgemm_06_column_major_b",
    .idea =
        "B stored column-major (nt): the copies of both operands are coalesced; the issue slots of 4-byte copies and "
        "shared reads limit.",
    .source = "worklog, kernel 6: column-major layout",
    .ladder = Ladder::sgemm,
    .origin = Origin::tutorial,
    .rejects = rejects,
};

}  // namespace inlay::kernels::sgemm_06_column_major_b
