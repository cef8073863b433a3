// Any layout and alignment, tiles of 128 x 128, stages filled by cp.async or through registers.
#pragma once
#include <inlay/kernels/gemm/fma/tile.h>

namespace inlay::kernels::sgemm_tile_128x128 {

template <Vectors A, Vectors B>
struct Step : SwizzledTile<A, B> {
  static constexpr FmaTimes times{
      .block = 2.76, .alone = 0.62, .busy = 1.28, .along_k = 0.08, .elements = 0.3, .end = {1.8, 3.5}};
};
using Kernel = SgemmVectors<Step>;
using Dispatch = Kernel;

inline constexpr Info<Gemm> info = {
    .name = "sgemm_tile_128x128",
    .idea =
        "Tiles of 128x128 for any layout and alignment: 16-byte copies where rows allow them, swizzled stages, no "
        "workspace.",
    .source = "inlay",
    .ladder = Ladder::sgemm,
    .origin = Origin::ours,
    .rejects = Kernel::rejects,
    .seconds = Kernel::seconds,
};

}  // namespace inlay::kernels::sgemm_tile_128x128
