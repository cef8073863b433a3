// Layout facts, most at compile time: the model of inlay/banks.h on the very layouts that the kernels use.
#include <gtest/gtest.h>
#include <inlay/banks.h>

#include "kernels/transpose_03_smem_read_conflict.h"
#include "kernels/transpose_04_smem_write_conflict.h"
#include "kernels/transpose_05_smem_padded.h"
#include "kernels/transpose_06_smem_swizzled.h"
#include "kernels/transpose_07_vector_conflict.h"
#include "kernels/transpose_08_vector_padded.h"
#include "kernels/transpose_09_vector_swizzled.h"
#include "kernels/transpose_10_cp_async.h"

namespace inlay::kernels {
namespace {
using banks::Access;

template <class Step>
constexpr int rows = 32;  // a column request; the patterns repeat after 32 rows
template <class Step>
constexpr int cols = size<1>(typename Step::Tile{});
template <class Step, class T>
constexpr unsigned write_wavefronts() {
  return banks::worst_row_wavefronts(typename Step::SmemLayout{}, rows<Step>, cols<Step>, sizeof(T), Step::vector,
                                     Access::store);
}
template <class Step, class T>
constexpr unsigned read_wavefronts() {
  return banks::worst_column_wavefronts(typename Step::SmemLayout{}, rows<Step>, cols<Step>, sizeof(T), Access::load);
}
// What "free of conflicts" means: the least a full warp of that width can need, 1 up to 4 bytes a lane, 2 at 8, 4 at 16.
template <template <class> class Step, class T>
constexpr bool conflict_free() {
  return write_wavefronts<Step<T>, T>() == banks::least_wavefronts(sizeof(T) * Step<T>::vector) &&
         read_wavefronts<Step<T>, T>() == banks::least_wavefronts(sizeof(T));
}
template <template <class> class Step>
constexpr bool conflict_free_at_every_size() {
  return conflict_free<Step, Bytes<1>>() && conflict_free<Step, Bytes<2>>() && conflict_free<Step, Bytes<4>>() &&
         conflict_free<Step, Bytes<8>>() && conflict_free<Step, Bytes<16>>();
}
static_assert(conflict_free_at_every_size<transpose_05_smem_padded::Step>());
static_assert(conflict_free_at_every_size<transpose_06_smem_swizzled::Step>());
static_assert(conflict_free_at_every_size<transpose_10_cp_async::Step>());

// The conflicts that 03, 04 and 07 are about, and the compromise of 08 and 09.
using F = std::uint32_t;
static_assert(read_wavefronts<transpose_03_smem_read_conflict::Step<F>, F>() == 32);
static_assert(write_wavefronts<transpose_04_smem_write_conflict::Step<F>, F>() == 32);
static_assert(read_wavefronts<transpose_07_vector_conflict::Step<F>, F>() == 32);
static_assert(read_wavefronts<transpose_08_vector_padded::Step<F>, F>() == 4);
static_assert(read_wavefronts<transpose_09_vector_swizzled::Step<F>, F>() == 4);
static_assert(write_wavefronts<transpose_09_vector_swizzled::Step<F>, F>() == 4);  // 16 bytes a lane: the least

// The tutorial's slip: Swizzle<5,0,5> on a tile 64 wide takes its mask from bit 5, which is still a column bit.
using Tile64 = RowMajor<Shape<_64, _64>>;
static_assert(banks::worst_column_wavefronts(composition(Swizzle<5, 0, 5>{}, Tile64{}), 64, 64, 4, Access::load) == 2);
static_assert(banks::worst_column_wavefronts(composition(Swizzle<5, 0, 6>{}, Tile64{}), 64, 64, 4, Access::load) == 1);
static_assert(std::is_same_v<ConflictFree<64, 4>::type, Swizzle<5, 0, 6>>);
static_assert(std::is_same_v<ConflictFree<32, 4>::type, Swizzle<5, 0, 5>>);

// A published general formula, <log2(128 / element), 0, log2(width)>: conflicts remain at 2 bytes; at 1 byte the 7 bits
// of its mask would reach beyond its shift of 6 on a tile 64 wide, which Swizzle refuses to compile.
using Tile2 = RowMajor<Shape<_64, _64>>;
static_assert(banks::worst_column_wavefronts(composition(Swizzle<6, 0, 6>{}, Tile2{}), 32, 64, 2, Access::load) > 1);
static_assert(banks::worst_column_wavefronts(composition(ConflictFree<64, 2>::type{}, Tile2{}), 32, 64, 2,
                                             Access::load) == 1);

// Padding by one element is not enough below 4 bytes.
static_assert(banks::worst_column_wavefronts(PaddedRows<Shape<_32, _64>, _1>{}, 32, 64, 2, Access::load) == 2);
static_assert(banks::worst_column_wavefronts(PaddedRows<Shape<_32, _128>, _1>{}, 32, 128, 1, Access::load) == 4);

// The tutorial's second form: a transposed view by composing with the row-major layout of the transposed tile is the
// same function as the column-major view of the swizzled tile.
TEST(Layouts, CompositionTransposesASwizzledTile) {
  using S = transpose_06_smem_swizzled::Step<F>::SmemLayout;  // (BLK_M,BLK_N)
  auto tile = RowMajor<Shape<_64, _64>>{};                    // (BLK_N,BLK_M), row-major
  auto view = composition(S{}, tile);                         // (BLK_N,BLK_M)
  for (int m = 0; m < 64; ++m)
    for (int n = 0; n < 64; ++n) ASSERT_EQ(view(n, m), S{}(m, n)) << m << "," << n;
}

// What SmemTile refuses: the padded shape where the padded stride is meant.
static_assert(is_layout_of_tile<Shape<_32, _64>, PaddedRows<Shape<_32, _64>, _1>>);
static_assert(!is_layout_of_tile<Shape<_32, _64>, Layout<Shape<_32, Int<65>>, Stride<Int<65>, _1>>>);

// The published grids of bank numbers of a 32 x 64 tile of 4-byte elements: row r of the swizzled tile is columns xor r.
TEST(Layouts, BankGridOfThePublishedTile) {
  auto plain = RowMajor<Shape<_32, _64>>{};
  auto swizzled = composition(Swizzle<5, 0, 6>{}, plain);
  for (int m = 0; m < 32; ++m)
    for (int n = 0; n < 64; ++n) {
      EXPECT_EQ(banks::bank(plain, m, n, 4), unsigned(n % 32));
      EXPECT_EQ(banks::bank(swizzled, m, n, 4), unsigned((n ^ m) % 32));
    }
}

// The model on patterns whose answers Nsight Compute gave on an H200.
template <class Address>
unsigned loads(unsigned bytes, Address address, std::uint32_t active = ~0u, Access access = Access::load) {
  banks::Request r{{}, active, bytes};
  for (unsigned t = 0; t < 32; ++t) r.address[t] = address(t);
  return banks::wavefronts(r, access);
}
TEST(Model, CalibratedPatterns) {
  EXPECT_EQ(loads(8, [](unsigned l) { return l * 8; }), 2u);
  EXPECT_EQ(loads(8, [](unsigned) { return 0; }), 1u);
  EXPECT_EQ(loads(8, [](unsigned l) { return l / 2 * 8; }), 1u);
  EXPECT_EQ(loads(8, [](unsigned l) { return l % 16 * 8; }), 2u);
  EXPECT_EQ(loads(16, [](unsigned l) { return l * 16; }), 4u);
  EXPECT_EQ(loads(16, [](unsigned l) { return l / 2 * 16; }), 2u);
  EXPECT_EQ(loads(16, [](unsigned l) { return ((l & 1) | l >> 2 << 1) * 16; }), 2u);
  EXPECT_EQ(loads(16, [](unsigned l) { return l % 16 * 16; }), 4u);
  EXPECT_EQ(loads(16, [](unsigned) { return 0; }), 2u);
  EXPECT_EQ(loads(
                16, [](unsigned l) { return l * 16; }, 0xFF),
            1u);
  EXPECT_EQ(loads(16, [](unsigned l) { return l * 512; }), 32u);
  EXPECT_EQ(loads(
                16, [](unsigned l) { return l / 2 * 16; }, ~0u, Access::store),
            4u);
  EXPECT_EQ(loads(4, [](unsigned l) { return l * 128; }), 32u);
}

}  // namespace
}  // namespace inlay::kernels
