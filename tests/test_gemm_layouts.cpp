// Layout facts of the SGEMM ladder: the model of inlay/banks.h on the very layouts that the kernels use.
#include <gtest/gtest.h>
#include <inlay/banks.h>

#include <inlay/kernels/gemm/fma/sgemm_narrow.h>
#include <inlay/tutorial/sgemm/sgemm_02_tiled_mma.h>
#include <inlay/tutorial/sgemm/sgemm_03_padded.h>
#include <inlay/tutorial/sgemm/sgemm_06_column_major_b.h>
#include <inlay/tutorial/sgemm/sgemm_08_swizzled.h>
#include <inlay/tutorial/sgemm/sgemm_09_thread_tile.h>

namespace inlay::kernels {
namespace {
using banks::Access;

// The wavefronts of a warp whose lanes ask for `bytes` each at address(lane).
template <class Address>
unsigned wavefronts(unsigned bytes, Address address, Access access) {
  banks::Request r{{}, ~0u, bytes};
  for (unsigned t = 0; t < 32; ++t) r.address[t] = std::uint64_t(address(int(t)));
  return banks::wavefronts(r, access);
}

// The most wavefronts of a warp's store into a stage, (rows,k,PIPE) in floats: element v of the lanes' vectors.
template <class Stage, class How>
unsigned store_wavefronts() {
  typename How::Threads const threads{};
  typename How::Values const values{};
  unsigned worst = 0;
  for (int t0 = 0; t0 < int(size(threads)); t0 += 32)
    for (int v = 0; v < int(size(values)); ++v) {
      auto const address = [&](int t) {
        auto const at = threads.get_flat_coord(t0 + t), in = values.get_flat_coord(v);
        return 4 * Stage{}(get<0>(at) * int(size<0>(values)) + get<0>(in),
                           get<1>(at) * int(size<1>(values)) + get<1>(in), 0);
      };
      worst = std::max(worst, wavefronts(4, address, Access::store));
    }
  return worst;
}

// The most wavefronts of a warp's read of quads: LANES of them side by side, lanes `apart` from one to the next.
template <class Stage, int LANES>
unsigned read_wavefronts(int apart) {
  unsigned worst = 0;
  for (int k = 0; k < int(size<1>(Stage{})); ++k)
    for (int first = 0; first < int(size<0>(Stage{})); first += 4 * LANES) {
      auto const address = [&](int t) { return 4 * Stage{}(first + 4 * (t / apart % LANES), k, 0); };
      worst = std::max(worst, wavefronts(16, address, Access::load));
    }
  return worst;
}

TEST(GemmLayouts, PaddingFreesTheStoresOfLanesAlongK) {
  using Two = sgemm_02_tiled_mma::Step;
  using Three = sgemm_03_padded::Step;
  EXPECT_EQ((store_wavefronts<Two::SmemA, Two::FetchA>()), 8u);
  EXPECT_EQ((store_wavefronts<Three::SmemA, Three::FetchA>()), 1u);
}
TEST(GemmLayouts, QuadsAreReadWithoutConflicts) {
  using Six = sgemm_06_column_major_b::Step;
  EXPECT_EQ((read_wavefronts<Six::SmemA, 4>(8)),
            2u);  // lanes in pairs ask for the same: half of what a full warp needs
  EXPECT_EQ((read_wavefronts<Six::SmemB, 8>(1)), 4u);
}
TEST(GemmLayouts, TheSwizzleFreesTheStoresOfTransposedVectors) {
  using Eight = sgemm_08_swizzled::Step<Vectors::k, Vectors::k>;
  EXPECT_EQ((store_wavefronts<Stages<128, 8, 3>, Eight::FetchA>()), 2u);
  EXPECT_EQ((store_wavefronts<Eight::SmemA, Eight::FetchA>()), 1u);
  EXPECT_EQ((read_wavefronts<Eight::SmemA, 4>(8)), 2u);
  EXPECT_EQ((read_wavefronts<Eight::SmemB, 8>(1)), 4u);
}
TEST(GemmLayouts, ThreadTile) {
  using Nine = sgemm_09_thread_tile::Step<Vectors::k, Vectors::k>;
  EXPECT_EQ((store_wavefronts<Nine::SmemB, Nine::FetchB>()), 1u);
  EXPECT_EQ((read_wavefronts<Nine::SmemA, 8>(4)), 2u);
  EXPECT_EQ((read_wavefronts<Nine::SmemB, 4>(1)), 4u);
}
TEST(GemmLayouts, NarrowTiles) {
  using Columns = sgemm_narrow::FewColumns<Vectors::k, Vectors::k>;
  EXPECT_EQ((store_wavefronts<Columns::SmemA, Columns::FetchA>()), 1u);
  EXPECT_EQ((read_wavefronts<Columns::SmemA, 16>(2)), 2u);
  EXPECT_EQ((read_wavefronts<Columns::SmemB, 2>(1)), 2u);
}

}  // namespace
}  // namespace inlay::kernels
