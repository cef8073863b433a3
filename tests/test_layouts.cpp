// Layout facts: the model of inlay/banks.h on the very layouts that the kernels use. A compiler can prove each of them,
// as examples/banks.cpp does; here the long ones are computed at run time, which takes a hundredth of that.
#include <gtest/gtest.h>
#include <inlay/banks.h>

#include <inlay/kernels/copy/transpose_realigned.h>
#include <inlay/kernels/copy/transpose_registers.h>
#include <inlay/tutorial/transpose/transpose_03_smem_read_conflict.h>
#include <inlay/tutorial/transpose/transpose_04_smem_write_conflict.h>
#include <inlay/tutorial/transpose/transpose_05_smem_padded.h>
#include <inlay/tutorial/transpose/transpose_06_smem_swizzled.h>
#include <inlay/tutorial/transpose/transpose_07_vector_conflict.h>
#include <inlay/tutorial/transpose/transpose_08_vector_padded.h>
#include <inlay/tutorial/transpose/transpose_09_vector_swizzled.h>
#include <inlay/tutorial/transpose/transpose_10_cp_async.h>
#include <inlay/tutorial/transpose/transpose_12_register_tile.h>
#include <inlay/tutorial/transpose/transpose_13_in_flight.h>
#include <inlay/tutorial/transpose/transpose_14_tma.h>

namespace inlay::kernels {
namespace {
using banks::Access;

// The wavefronts of a warp whose lanes ask for `bytes` each at address(lane).
template <class Address>
unsigned wavefronts(unsigned bytes, Address address, Access access = Access::load, std::uint32_t active = ~0u) {
  banks::Request r{{}, active, bytes};
  for (unsigned t = 0; t < 32; ++t) r.address[t] = std::uint64_t(address(t));
  return banks::wavefronts(r, access);
}

// Not constexpr, as all that follows: the compiler would walk the tiles itself.
template <class Layout>
unsigned worst_column(Layout const& layout, int rows, int cols, int elem_bytes) {
  return banks::worst_column_wavefronts(layout, rows, cols, elem_bytes, Access::load);
}

template <class Step>
constexpr int rows = 32;  // a column request; the patterns repeat after 32 rows
template <class Step>
constexpr int cols = size<1>(typename Step::Tile{});
template <class Step, int elem_bytes>
unsigned write_wavefronts() {
  return banks::worst_row_wavefronts(typename Step::SmemLayout{}, rows<Step>, cols<Step>, elem_bytes, Step::vector,
                                     Access::store);
}
template <class Step, int elem_bytes>
unsigned read_wavefronts() {
  return banks::worst_column_wavefronts(typename Step::SmemLayout{}, rows<Step>, cols<Step>, elem_bytes, Access::load);
}
// What "free of conflicts" means: the least a full warp of that width can need, 1 up to 4 bytes a lane, 2 at 8, 4 at
// 16.
template <class Step, int elem_bytes>
bool conflict_free() {
  return write_wavefronts<Step, elem_bytes>() == banks::least_wavefronts(elem_bytes * Step::vector) &&
         read_wavefronts<Step, elem_bytes>() == banks::least_wavefronts(elem_bytes);
}
TEST(Layouts, StepsWithoutConflictsHaveNone) {
  EXPECT_TRUE((conflict_free<transpose_05_smem_padded::Step, 4>()));
  EXPECT_TRUE((conflict_free<transpose_06_smem_swizzled::Step, 4>()));
  EXPECT_TRUE((conflict_free<transpose_10_cp_async::Step, 4>()));
}
// The same formulas for elements of every size, in tiles whose rows cover all banks.
template <int elem_bytes>
struct Tiled {
  static constexpr int width = elem_bytes <= 2 ? 128 : elem_bytes <= 8 ? 64 : 32;
  using Tile = Shape<_32, Int<width>>;  // (BLK_M,BLK_N)
  static constexpr int vector = 1;
};
template <int elem_bytes>
struct Padded : Tiled<elem_bytes> {
  using SmemLayout = PaddedRows<typename Padded::Tile, Padding<elem_bytes>>;
};
template <int elem_bytes>
struct Swizzled : Tiled<elem_bytes> {
  using SmemLayout = SwizzledRows<typename Swizzled::Tile, typename ConflictFree<Swizzled::width, elem_bytes>::type>;
};
template <template <int> class Step>
bool conflict_free_at_every_size() {
  return conflict_free<Step<1>, 1>() && conflict_free<Step<2>, 2>() && conflict_free<Step<4>, 4>() &&
         conflict_free<Step<8>, 8>() && conflict_free<Step<16>, 16>();
}
TEST(Layouts, FormulasOfPaddingAndSwizzle) {
  EXPECT_TRUE((conflict_free_at_every_size<Padded>()));
  EXPECT_TRUE((conflict_free_at_every_size<Swizzled>()));
}

// The conflicts that 03, 04 and 07 are about, and the compromise of 08 and 09.
TEST(Layouts, StepsWithConflictsHaveThem) {
  EXPECT_EQ((read_wavefronts<transpose_03_smem_read_conflict::Step, 4>()), 32u);
  EXPECT_EQ((write_wavefronts<transpose_04_smem_write_conflict::Step, 4>()), 32u);
  EXPECT_EQ((read_wavefronts<transpose_07_vector_conflict::Step, 4>()), 32u);
  EXPECT_EQ((read_wavefronts<transpose_08_vector_padded::Step, 4>()), 4u);
  EXPECT_EQ((read_wavefronts<transpose_09_vector_swizzled::Step, 4>()), 4u);
  EXPECT_EQ((write_wavefronts<transpose_09_vector_swizzled::Step, 4>()), 4u);  // 16 bytes a lane: the least
}

template <template <class> class Kernel, template <class> class Holds>
bool at_every_size() {
  return Holds<Kernel<Bytes<1>>>::value() && Holds<Kernel<Bytes<2>>>::value() && Holds<Kernel<Bytes<4>>>::value() &&
         Holds<Kernel<Bytes<8>>>::value() && Holds<Kernel<Bytes<16>>>::value();
}

// 12 to 14, (chunk,column) of 16 bytes: lanes run along the vectors of the input's row when they store column j of
// their squares, and along the chunks of an output's row when they load.
template <class K>
struct RegisterTileIsFree {
  static unsigned worst() {
    constexpr typename K::SmemLayout layout{};
    unsigned w = 0;
    for (int t0 = 0; t0 < K::threads; t0 += 32)
      for (int chunk0 = 0; chunk0 < K::CHUNKS; chunk0 += size<0>(typename K::LoadThreads{}))
        for (int j = 0; j < K::V; ++j) {
          auto const store = [&](unsigned t) {
            auto const c = typename K::LoadThreads{}.get_flat_coord(t0 + int(t));
            return layout(chunk0 + get<0>(c), get<1>(c) * K::V + j) * 16;
          };
          w = std::max(w, wavefronts(16, store, Access::store));
        }
    for (int t0 = 0; t0 < K::threads; t0 += 32)
      for (int n0 = 0; n0 < K::BLK_N; n0 += size<1>(typename K::StoreThreads{})) {
        auto const load = [&](unsigned t) {
          auto const c = typename K::StoreThreads{}.get_flat_coord(t0 + int(t));
          return layout(get<0>(c), n0 + get<1>(c)) * 16;
        };
        w = std::max(w, wavefronts(16, load));
      }
    return w;
  }
  static bool value() { return worst() == banks::least_wavefronts(16); }
};
TEST(Layouts, RegisterTilesAreFree) {
  EXPECT_TRUE(RegisterTileIsFree<transpose_12_register_tile::Kernel>::value());
  EXPECT_TRUE(RegisterTileIsFree<transpose_13_in_flight::Kernel>::value());
  EXPECT_TRUE((at_every_size<transpose_registers::Kernel, RegisterTileIsFree>()));
}

// 15 from 4 bytes on: lanes along a row of the input when they store, down a column when they load.
template <class K>
bool skewed_tile_is_free() {
  constexpr typename K::SmemLayout layout{};
  constexpr unsigned E = sizeof(K::Smem::A[0]);
  unsigned store = 0, load = 0;
  for (int t0 = 0; t0 < K::threads; t0 += 32) {
    auto const along = [&](unsigned t) {
      auto const c = typename K::LoadThreads{}.get_flat_coord(t0 + int(t));
      return layout(get<0>(c), get<1>(c)) * E;
    };
    store = std::max(store, wavefronts(E, along, Access::store));
  }
  for (int c = 0; c < K::BLK_N; ++c)
    for (int row0 = 0; row0 + 32 <= K::ROWS; ++row0)  // wherever the skew lets them begin
      load = std::max(load, wavefronts(E, [&](unsigned t) { return layout(row0 + int(t), c) * E; }));
  return store == banks::least_wavefronts(E) && load == banks::least_wavefronts(E);
}
TEST(Layouts, TilesOfOddPitchAreFree) {
  EXPECT_TRUE((skewed_tile_is_free<transpose_realigned::Kernel<Bytes<4>>>()));
  EXPECT_TRUE((skewed_tile_is_free<transpose_realigned::Kernel<Bytes<8>>>()));
  EXPECT_TRUE((skewed_tile_is_free<transpose_realigned::Kernel<Bytes<16>>>()));
}

// 15 below: (word of a column,(element of a vector,vector)). A warp stores a word of 8 vectors in each of 4 word rows,
// and loads chunks of 16 bytes down its columns, from any chunk on that a column's skew asks for.
template <class K>
bool realigned_tile_is_free() {
  constexpr typename K::SmemLayout layout{};
  unsigned store = 0, load = 0;
  for (int word0 = 0; word0 < K::WORDS; word0 += K::DOWN)
    for (int vector0 = 0; vector0 < K::VECTORS; vector0 += K::LANES)
      for (int x = 0; x < K::V; ++x) {
        auto const words = [&](unsigned t) {
          return layout(word0 + int(t) / K::LANES, make_coord(x, vector0 + int(t) % K::LANES)) * 4;
        };
        store = std::max(store, wavefronts(4, words, Access::store));
      }
  for (int place0 = 0; place0 < K::BLK_N; place0 += 32 / std::min(32, K::CHUNKS))
    for (unsigned skewed = 0; skewed < 16; ++skewed) {  // the columns of a warp by a chunk more or less each
      auto const chunks = [&](unsigned t) {
        unsigned const column = t / K::CHUNKS;
        return (place0 + column) * K::PITCH * 4 + (t % K::CHUNKS + (skewed >> column & 1)) * 16;
      };
      load = std::max(load, wavefronts(16, chunks));
    }
  return store == 1 && load == banks::least_wavefronts(16);
}
TEST(Layouts, RealignedTilesAreFree) {
  EXPECT_TRUE((realigned_tile_is_free<transpose_realigned::Kernel<Bytes<1>>>()));
  EXPECT_TRUE((realigned_tile_is_free<transpose_realigned::Kernel<Bytes<2>>>()));
}

// 16: a thread's square is chunk a of the rows of group b. Squares along diagonals, b = a ^ d, meet 8 chunks modulo 8
// where they are read and where they are written; squares along a row meet them only where they are read.
template <class K, bool diagonal>
unsigned tma_wavefronts(Access access) {
  constexpr typename K::LayoutA layout_A{};
  constexpr typename K::LayoutB layout_B{};
  unsigned worst = 0;
  for (int t0 = 0; t0 < K::threads; t0 += 32)
    for (int i = 0; i < K::V; ++i) {
      auto const address = [&](unsigned t) {
        int const tid = t0 + int(t), a = tid % 8, d = tid / 8 % 8, group = tid / 64 % 2, box = tid / 128;
        int const b = group * 8 + (diagonal ? a ^ d : d);
        return access == Access::load ? layout_A(b * K::V + i, make_coord(a, box)) * 16
                                      : layout_B(make_coord(b % 8, b / 8), (box * 8 + a) * K::V + i) * 16;
      };
      worst = std::max(worst, wavefronts(16, address, access));
    }
  return worst;
}
TEST(Layouts, TmaTilesAreFree) {
  using Tma = transpose_14_tma::Kernel;
  EXPECT_EQ((tma_wavefronts<Tma, true>(Access::load)), banks::least_wavefronts(16));
  EXPECT_EQ((tma_wavefronts<Tma, true>(Access::store)), banks::least_wavefronts(16));
  EXPECT_EQ((tma_wavefronts<Tma, false>(Access::load)), 4u);
  EXPECT_EQ((tma_wavefronts<Tma, false>(Access::store)), 16u);  // rows 4 a + i of the output: 2 chunks of 8
}

// The tutorial's slip: Swizzle<5,0,5> on a tile 64 wide takes its mask from bit 5, which is still a column bit.
using Tile64 = RowMajor<Shape<_64, _64>>;
TEST(Layouts, ThePublishedSwizzleLeavesTwoRows) {
  EXPECT_EQ((worst_column(composition(Swizzle<5, 0, 5>{}, Tile64{}), 64, 64, 4)), 2u);
  EXPECT_EQ((worst_column(composition(Swizzle<5, 0, 6>{}, Tile64{}), 64, 64, 4)), 1u);
}
static_assert(std::is_same_v<ConflictFree<64, 4>::type, Swizzle<5, 0, 6>>);
static_assert(std::is_same_v<ConflictFree<32, 4>::type, Swizzle<5, 0, 5>>);

// A published general formula, <log2(128 / element), 0, log2(width)>: conflicts remain at 2 bytes; at 1 byte the 7 bits
// of its mask would reach beyond its shift of 6 on a tile 64 wide, which Swizzle refuses to compile.
using Tile2 = RowMajor<Shape<_64, _64>>;
TEST(Layouts, AGeneralFormulaLeavesConflicts) {
  EXPECT_TRUE((worst_column(composition(Swizzle<6, 0, 6>{}, Tile2{}), 32, 64, 2) > 1));
  EXPECT_EQ((worst_column(composition(ConflictFree<64, 2>::type{}, Tile2{}), 32, 64, 2)), 1u);
}

// Padding by one element is not enough below 4 bytes.
TEST(Layouts, PaddingByOneElementIsNotEnough) {
  EXPECT_EQ((worst_column(PaddedRows<Shape<_32, _64>, _1>{}, 32, 64, 2)), 2u);
  EXPECT_EQ((worst_column(PaddedRows<Shape<_32, _128>, _1>{}, 32, 128, 1)), 4u);
}

// The tutorial's second form: a transposed view by composing with the row-major layout of the transposed tile is the
// same function as the column-major view of the swizzled tile.
TEST(Layouts, CompositionTransposesASwizzledTile) {
  using S = transpose_06_smem_swizzled::Step::SmemLayout;  // (BLK_M,BLK_N)
  auto tile = RowMajor<Shape<_64, _64>>{};                 // (BLK_N,BLK_M), row-major
  auto view = composition(S{}, tile);                      // (BLK_N,BLK_M)
  for (int m = 0; m < 64; ++m)
    for (int n = 0; n < 64; ++n) ASSERT_EQ(view(n, m), S{}(m, n)) << m << "," << n;
}

// What SmemTile refuses: the padded shape where the padded stride is meant.
static_assert(is_layout_of_tile<Shape<_32, _64>, PaddedRows<Shape<_32, _64>, _1>>);
static_assert(!is_layout_of_tile<Shape<_32, _64>, Layout<Shape<_32, Int<65>>, Stride<Int<65>, _1>>>);

// The published grids of bank numbers of a 32 x 64 tile of 4-byte elements: row r of the swizzled tile is columns xor
// r.
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
TEST(Model, CalibratedPatterns) {
  EXPECT_EQ(wavefronts(8, [](unsigned l) { return l * 8; }), 2u);
  EXPECT_EQ(wavefronts(8, [](unsigned) { return 0; }), 1u);
  EXPECT_EQ(wavefronts(8, [](unsigned l) { return l / 2 * 8; }), 1u);
  EXPECT_EQ(wavefronts(8, [](unsigned l) { return l % 16 * 8; }), 2u);
  EXPECT_EQ(wavefronts(16, [](unsigned l) { return l * 16; }), 4u);
  EXPECT_EQ(wavefronts(16, [](unsigned l) { return l / 2 * 16; }), 2u);
  EXPECT_EQ(wavefronts(16, [](unsigned l) { return ((l & 1) | l >> 2 << 1) * 16; }), 2u);
  EXPECT_EQ(wavefronts(16, [](unsigned l) { return l % 16 * 16; }), 4u);
  EXPECT_EQ(wavefronts(16, [](unsigned) { return 0; }), 2u);
  EXPECT_EQ(wavefronts(
                16, [](unsigned l) { return l * 16; }, Access::load, 0xFF),
            1u);
  EXPECT_EQ(wavefronts(16, [](unsigned l) { return l * 512; }), 32u);
  EXPECT_EQ(wavefronts(
                16, [](unsigned l) { return l / 2 * 16; }, Access::store),
            4u);
  EXPECT_EQ(wavefronts(4, [](unsigned l) { return l * 128; }), 32u);
}

}  // namespace
}  // namespace inlay::kernels
