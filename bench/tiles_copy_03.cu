#include "tile_candidates.h"

namespace inlay::kernels {
namespace {

// Threads of a block and vectors of a thread.
template <int kThreads, int kVectors>
struct CopyStep {
  static constexpr Writes writes = Writes::copy;
  using Tile = Shape<_1, Int<kVectors * kThreads>>;                             // (BLK_M,BLK_N)
  using Threads = Layout<Shape<_1, Int<kThreads>>, Stride<Int<kThreads>, _1>>;  // (THR_M,THR_N)
};
template <int kThreads, int kVectors>
lab::CopyCandidate copy(lab::CopyCase const& c, lab::CopyCall const& call) {
  return candidate<DirectTile<Vector16, CopyStep<kThreads, kVectors>>>(
      "copy_03, " + std::to_string(kThreads) + " threads x " + std::to_string(kVectors) + " vectors", c, call);
}

}  // namespace

std::vector<lab::CopyCandidate> copy_03_tiles(lab::CopyCase const& c, lab::CopyCall const& call) {
  return {copy<128, 1>(c, call), copy<256, 1>(c, call), copy<512, 1>(c, call), copy<1024, 1>(c, call),
          copy<256, 2>(c, call), copy<256, 4>(c, call), copy<256, 8>(c, call)};
}

}  // namespace inlay::kernels
