#include "tile_candidates.h"

namespace inlay::kernels {

std::vector<lab::CopyCandidate> transpose_09_tiles(lab::CopyCase const& c, lab::CopyCall const& call) {
  return {transpose<32, 32, 256, 4>(c, call),   transpose<32, 128, 256, 4>(c, call),
          transpose<64, 64, 256, 4>(c, call),   transpose<64, 64, 512, 4>(c, call),
          transpose<128, 32, 256, 4>(c, call),  transpose<128, 64, 512, 4>(c, call),
          transpose<128, 64, 1024, 4>(c, call), transpose<64, 64, 256, 4, false>(c, call)};
}

}  // namespace inlay::kernels
