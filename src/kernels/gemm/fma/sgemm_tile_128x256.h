// Any layout and alignment, tiles of 128 x 256: 8 x 16 elements of D per thread, padded stages.
#pragma once
#include <inlay/kernels/gemm/fma/tile.h>

namespace inlay::kernels::sgemm_tile_128x256 {

template <Vectors A, Vectors B>
struct Step : WideThreadTile<A, B> {
  static constexpr FmaTimes times{
      .block = 4.4, .alone = 1.77, .busy = 1.92, .along_k = 0.03, .elements = 0.1, .end = {3.2, 5.6}};
};
using Kernel = SgemmVectors<Step>;
using Dispatch = Kernel;

inline constexpr Info<Gemm> info = {
    .name = "sgemm_tile_128x256",
    .idea = "Tiles of 128x256, 8x16 to a thread: six shared reads for 128 multiply-adds, padded stages, no workspace.",
    .source = "inlay",
    .ladder = Ladder::sgemm,
    .origin = Origin::ours,
    .rejects = Kernel::rejects,
    .seconds = Kernel::seconds,
};

}  // namespace inlay::kernels::sgemm_tile_128x256
