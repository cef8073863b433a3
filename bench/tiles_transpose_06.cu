#include "tile_candidates.h"

namespace inlay::kernels {

std::vector<lab::TransposeCandidate> transpose_06_tiles(lab::TransposeCase const& c) {
  return {transpose<32, 32, 256, 1>(c),  transpose<32, 64, 256, 1>(c),       transpose<64, 32, 256, 1>(c),
          transpose<64, 64, 256, 1>(c),  transpose<64, 64, 512, 1>(c),       transpose<128, 32, 256, 1>(c),
          transpose<128, 64, 512, 1>(c), transpose<64, 64, 256, 1, false>(c)};
}

}  // namespace inlay::kernels
