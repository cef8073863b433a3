// Slices of K one after the other in a block: the bits of a plan that splits K over blocks, for a batch that fills the
// GPU without.
#pragma once
#include <inlay/kernels/gemm/fma/tile.h>

namespace inlay::kernels::sgemm_slices_64x64 {

// Six blocks leave a thread 168 registers, of which the loop that multiplies takes up to 157. Sums in groups take
// another 16 KB a block.
template <Vectors A, Vectors B, int LEVELS>
struct Slices : SgemmStep {
  static constexpr FmaTimes times{
      .block = 4.75, .alone = 1, .busy = 0.33, .along_k = 0.065, .elements = 0, .end = {1.5, 1.8}, .slice = 0.05};
  static constexpr int BLK_M = 64, BLK_N = 64, threads = 64, min_blocks = LEVELS == 1 ? 6 : 5;
  static constexpr int levels_in_shared = LEVELS;
  using FetchA = FetchVectors<A, threads, BLK_M>;
  using FetchB = FetchVectors<B, threads, BLK_N>;
  using SmemA = Stages<BLK_M, BLK_K, 3, 4>;  // (BLK_M,BLK_K,PIPE)
  using SmemB = Stages<BLK_N, BLK_K, 3, 4>;  // (BLK_N,BLK_K,PIPE)
  using OnC = WarpTiles<2, 1, 4, 8, 8, 8>;   // 2 warps of 32x64, 32 lanes of 8x8
};
template <Vectors A, Vectors B>
struct OneGroup : Slices<A, B, 1> {};
template <Vectors A, Vectors B>
struct Groups : Slices<A, B, 2> {};

struct Choice {
  template <class F>
  static auto with(Gemm const& g, Device const&, Config const&, F const& f) {
    return number_of_slices(g) == slices_of_group(g) ? f(std::type_identity<SgemmVectors<OneGroup>>{})
                                                     : f(std::type_identity<SgemmVectors<Groups>>{});
  }
};
using Kernel = OneOf<Choice>;
using Dispatch = Kernel;

inline constexpr Info<Gemm> info = {
    .name = "sgemm_slices_64x64",
    .idea =
        "Tiles of 64x64; the sum of a slice of K is added to those before it, which wait in shared memory: for batches "
        "whose single matrices would split K over blocks, and with the same bits.",
    .source = "inlay",
    .ladder = Ladder::sgemm,
    .origin = Origin::ours,
    .rejects = Kernel::rejects,
    .seconds = Kernel::seconds,
};

}  // namespace inlay::kernels::sgemm_slices_64x64
