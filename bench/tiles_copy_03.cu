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
lab::TransposeCandidate copy(lab::TransposeCase const& c) {
  return candidate<DirectTile<Vector16, CopyStep<kThreads, kVectors>>>(
      "copy_03, " + std::to_string(kThreads) + " threads x " + std::to_string(kVectors) + " vectors", c);
}

}  // namespace

std::vector<lab::TransposeCandidate> copy_03_tiles(lab::TransposeCase const& c) {
  return {copy<128, 1>(c), copy<256, 1>(c), copy<512, 1>(c), copy<1024, 1>(c),
          copy<256, 2>(c), copy<256, 4>(c), copy<256, 8>(c)};
}

}  // namespace inlay::kernels
