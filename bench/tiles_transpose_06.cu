#include "tile_candidates.h"

namespace inlay::kernels {

std::vector<lab::CopyCandidate> transpose_06_tiles(lab::CopyCase const& c, lab::CopyCall const& call) {
  return {transpose<32, 32, 256, 1>(c, call),  transpose<32, 64, 256, 1>(c, call),
          transpose<64, 32, 256, 1>(c, call),  transpose<64, 64, 256, 1>(c, call),
          transpose<64, 64, 512, 1>(c, call),  transpose<128, 32, 256, 1>(c, call),
          transpose<128, 64, 512, 1>(c, call), transpose<64, 64, 256, 1, false>(c, call)};
}

}  // namespace inlay::kernels
