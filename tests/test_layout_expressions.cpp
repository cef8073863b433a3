// Layouts in CuTe's notation: what the lab reads at run time is what CuTe computes.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <cute/layout.hpp>
#include <cute/pointer_flagged.hpp>
#include <cute/swizzle_layout.hpp>
#include <random>

#include "layout/print.h"
#include "usage_error.h"

namespace inlay::lab {
namespace {

using cute::make_shape, cute::make_stride;
using Walk = WarpAccess::Walk;

// As a person writes it.
std::string text(int i) { return std::to_string(i); }
template <class... T>
std::string text(cute::tuple<T...> const& t) {
  std::string s;
  cute::for_each(t, [&](auto const& part) { s += (s.empty() ? "(" : ",") + text(part); });
  return s + ')';
}
// As CuTe prints it.
template <class T>
std::string printed(T const& t) {
  testing::internal::CaptureStdout();
  cute::print(t);
  return testing::internal::GetCapturedStdout();
}

// `ours` at every index and, where there are two modes, at every coordinate, with its size and cosize.
template <class CuteLayout>
void expect_same(Layout const& ours, CuteLayout const& theirs) {
  SCOPED_TRACE(to_string(ours));
  ASSERT_EQ(ours.rank(), int(cute::rank(theirs)));
  ASSERT_EQ(ours.size(), std::int64_t(cute::size(theirs)));
  auto const offsets = ours.offsets();
  ASSERT_EQ(std::int64_t(offsets.size()), ours.size());
  std::int64_t largest = 0;
  for (int index = 0; index < int(ours.size()); ++index) {
    ASSERT_EQ(ours(index), std::int64_t(theirs(index))) << "at " << index;
    ASSERT_EQ(offsets[std::size_t(index)], std::int64_t(theirs(index))) << "at " << index;
    largest = std::max(largest, std::int64_t(theirs(index)));
  }
  EXPECT_EQ(ours.cosize(), largest + 1);
  EXPECT_EQ(ours.with({}).cosize(), std::int64_t(cute::cosize(theirs)));
  if constexpr (cute::rank(CuteLayout{}) == 2) {
    for (int i = 0; i < int(ours.rows()); ++i)
      for (int j = 0; j < int(ours.cols()); ++j)
        ASSERT_EQ(ours(i, j), std::int64_t(theirs(i, j))) << "at " << i << "," << j;
  }
}

// The plain layout, and under each of these: as written, and as CuTe prints it.
template <int... BMS, class CuteLayout>
void expect_same_swizzled(std::string const& written, CuteLayout const& plain, cute::Swizzle<BMS...> swizzle) {
  auto const theirs = cute::composition(swizzle, plain);
  expect_same(parse_layout(
                  fmt::format("Swizzle<{},{},{}> o {}", swizzle.num_bits, swizzle.num_base, swizzle.num_shft, written)),
              theirs);
  expect_same(parse_layout(printed(theirs)), theirs);
}

template <class Shape, class Stride>
void expect_same_layouts(Shape const& shape, Stride const& stride) {
  auto const plain = cute::make_layout(shape, stride);
  std::string const written = text(shape) + ':' + text(stride);
  expect_same(parse_layout(written), plain);
  expect_same(parse_layout(printed(plain)), plain);
  expect_same(parse_layout(text(shape)), cute::make_layout(shape));
  expect_same_swizzled(written, plain, cute::Swizzle<0, 4, 3>{});
  expect_same_swizzled(written, plain, cute::Swizzle<1, 0, 1>{});
  expect_same_swizzled(written, plain, cute::Swizzle<2, 1, 3>{});
  expect_same_swizzled(written, plain, cute::Swizzle<3, 3, 3>{});
  expect_same_swizzled(written, plain, cute::Swizzle<5, 0, 6>{});
  expect_same_swizzled(written, plain, cute::Swizzle<2, 0, -4>{});
  expect_same_swizzled(written, plain, cute::Swizzle<3, 1, -3>{});
}

TEST(LayoutExpressions, RandomLayoutsAreCutes) {
  std::mt19937 random(8);
  auto const e = [&] { return int(random() % 5 + 1); };
  auto const s = [&] { return random() % 8 == 0 ? 0 : int(random() % 150); };
  for (int round = 0; round < 6; ++round) {
    expect_same_layouts(e() * 7, s());
    expect_same_layouts(make_shape(e() * 5), make_stride(s()));
    expect_same_layouts(make_shape(e() * 3, e() * 4), make_stride(s(), s()));
    expect_same_layouts(make_shape(e(), e(), e()), make_stride(s(), s(), s()));
    expect_same_layouts(make_shape(make_shape(e(), e()), e()), make_stride(make_stride(s(), s()), s()));
    expect_same_layouts(make_shape(e(), make_shape(e(), e())), make_stride(s(), make_stride(s(), s())));
    expect_same_layouts(make_shape(make_shape(e(), e()), make_shape(e(), e())),
                        make_stride(make_stride(s(), s()), make_stride(s(), s())));
    expect_same_layouts(make_shape(make_shape(e(), make_shape(e(), e())), e()),
                        make_stride(make_stride(s(), make_stride(s(), s())), s()));
    expect_same_layouts(make_shape(make_shape(make_shape(e(), e()), e()), make_shape(e(), make_shape(e(), 2))),
                        make_stride(make_stride(make_stride(s(), s()), s()), make_stride(s(), make_stride(s(), s()))));
  }
}

TEST(LayoutExpressions, OffsetsBeforeTheSwizzle) {
  auto const plain = cute::make_layout(make_shape(7, 9), make_stride(9, 1));
  auto const theirs = cute::make_composed_layout(cute::Swizzle<2, 1, 3>{}, 13, plain);
  Layout const ours = parse_layout("Swizzle<2,1,3> o 13 o (7,9):(9,1)");
  for (int i = 0; i < 63; ++i) EXPECT_EQ(ours(i), theirs(i)) << i;
}

// What CuTe prints of a layout for shared memory whose pointer is not set: its swizzle acts on bytes.
template <class T, int B, int M, int S>
void expect_same_on_bytes() {
  constexpr int bits = cute::sizeof_bits_v<T>;
  using Plain = cute::Layout<cute::Shape<cute::_16, cute::_64>, cute::Stride<cute::_64, cute::_1>>;
  auto const flagged = cute::composition(cute::Swizzle<B, M, S>{}, cute::smem_ptr_flag_bits<bits>{}, Plain{});
  auto const theirs = cute::as_position_independent_swizzle_layout(flagged);
  Layout const ours = parse_layout(printed(flagged));
  EXPECT_EQ(ours.front().elem_bytes, bits / 8);
  expect_same(ours, theirs);
  expect_same(parse_layout("(16,64):(64,1)").with(in_elements({B, M, S}, bits / 8)), theirs);
}

TEST(LayoutExpressions, SwizzlesOfBytes) {
  expect_same_on_bytes<std::uint8_t, 3, 4, 3>();
  expect_same_on_bytes<std::uint16_t, 3, 4, 3>();
  expect_same_on_bytes<std::uint16_t, 2, 4, 3>();
  expect_same_on_bytes<std::uint32_t, 3, 4, 3>();
  expect_same_on_bytes<std::uint64_t, 1, 4, 3>();
  expect_same_on_bytes<std::uint32_t, 2, 2, -5>();
  EXPECT_EQ(in_elements({0, 0, 0}, 16), (Swizzle{0, 0, 0}));
}

TEST(LayoutExpressions, AllFormsOfOneLayout) {
  for (char const* form :
       {"Swizzle<3,3,3> o (8,64):(64,1)", "Sw<3,3,3> o _0 o (_8,_64):(_64,_1)", "Swizzle<3,3>{}o(8,64):(64,1)",
        "  Swizzle < 3 , 3 , 3 > o ( 8 , 64 ) : ( 64 , 1 ) ", "Sw<3,4,3> o smem_ptr[16b](unset) o (8,64):(64,1)",
        "Sw<3,4,3>_smem_ptr[16b](0x7f7ee5000400) o (_8,64):(64,_1)"})
    EXPECT_EQ(to_string(parse_layout(form)), "Swizzle<3,3,3> o (8,64):(64,1)") << form;
  EXPECT_EQ(to_string(parse_layout("((4,8),(2,4))")), "((4,8),(2,4)):((1,4),(32,64))");
  EXPECT_EQ(to_string(parse_layout("8")), "8:1");
  EXPECT_EQ(to_string(parse_layout("Sw<0,4,3> o _0 o (8):(2)")), "(8):(2)");
}

std::string refusal(std::string const& expression) {
  try {
    return "read as " + to_string(parse_layout(expression));
  } catch (UsageError const& e) {
    return e.what();
  }
}

TEST(LayoutExpressions, MistakesAreToldWithTheirPlace) {
  struct {
    char const* expression;
    std::size_t at;
    char const* sentence;
  } const mistakes[] = {
      {"", 1, "expected an extent or '(', found the end"},
      {"   ", 4, "expected an extent or '(', found the end"},
      {"tile", 1, "expected an extent or '(', found 't'"},
      {"()", 2, "expected an extent or '(', found ')'"},
      {"(8,)", 4, "expected an extent or '(', found ')'"},
      {"(8,64", 6, "expected ',' or ')', found the end"},
      {"(8 64)", 4, "expected ',' or ')', found '6'"},
      {"(8,64)):(64,1)", 7, "expected ':' or the end, found ')'"},
      {"(8,64):", 8, "expected a stride or '(', found the end"},
      {"(8,64):(64,1):2", 14, "expected the end, found ':'"},
      {"(8,64):(64,1) o 8:1", 15, "expected the end, found 'o'"},
      {"8:1@0", 4, "expected the end, found '@'"},
      {"(8,-4)", 4, "expected a number that is not negative, found '-'"},
      {"(8,4):(-4,1)", 8, "expected a number that is not negative, found '-'"},
      {"(8,0)", 4, "expected a number from 1 to 281474976710656, found 0"},
      {"(8,99999999999999999999)", 4, "expected a number from 1 to 281474976710656, found 99999999999999999999"},
      {"8:281474976710657", 3, "expected a number from 0 to 281474976710656, found 281474976710657"},
      {"((((((((((((((((((1))))))))))))))))))", 17, "expected at most 16 levels of nesting, found more"},
      {"Swizzle 3,3,3", 9, "expected '<', found '3'"},
      {"Swizzle<>", 9, "expected a number of bits, found '>'"},
      {"Swizzle<3>", 10, "expected ',', found '>'"},
      {"Swizzle<3,3,3,3>", 14, "expected '>', found ','"},
      {"Swizzle<-3,3,3>", 9, "expected a number that is not negative, found '-'"},
      {"Swizzle<3,31,3>", 11, "expected a number from 0 to 30, found 31"},
      {"Swizzle<3,3,2> o 8", 8, "Swizzle<3,3,2> xors bits with themselves: a shift of 2 is less than 3 bits"},
      {"Swizzle<3,3,-2> o 8", 8, "Swizzle<3,3,-2> xors bits with themselves: a shift of -2 is less than 3 bits"},
      {"Swizzle<8,16,8> o 8", 8, "Swizzle<8,16,8> reaches beyond 31 bits"},
      {"Swizzle<3,3,3> (8,64)", 16, "expected 'o', which composes, found '('"},
      {"Swizzle<3,3,3> ∘ 8", 16, "expected 'o', which composes, found '∘'"},
      {"Swizzle<3,3,3> o", 17, "expected an extent or '(', found the end"},
      {"Swizzle<1,0,1> o Swizzle<3,3,3> o 8", 18, "expected an extent or '(', found 'S'"},
      {"13 o 8:1", 4, "expected ':' or the end, found 'o'"},
      {"smem_ptr[12b](unset) o 8:1", 10, "expected elements of 8, 16, 32, 64 or 128 bits, found 12"},
      {"smem_ptr[16b](set) o 8:1", 15, "expected unset or an address, found 's'"},
      {"smem_ptr[16b](0x) o 8:1", 17, "expected an address of up to 16 digits, found ')'"},
      {"Sw<3,4,3>_smem_ptr[16b](0x200) o 8:1", 27,
       "expected a multiple of 1024, after which Swizzle<3,4,3> begins anew, found 0x200"},
  };
  for (auto const& [expression, at, sentence] : mistakes)
    EXPECT_EQ(refusal(expression),
              fmt::format("at {}: {}\n  {}\n  {}^", at, sentence, expression, std::string(at - 1, ' ')));
}

TEST(LayoutExpressions, WhatCannotBeIsRefusedWithItsValues) {
  EXPECT_EQ(refusal("(8,64):64"), "(8,64):64 is not congruent: (8,64) in the shape stands against 64 in the stride");
  EXPECT_EQ(refusal("(8,(2,4)):(1,8)"),
            "(8,(2,4)):(1,8) is not congruent: (2,4) in the shape stands against 8 in the stride");
  EXPECT_EQ(refusal("(8):1"), "(8):1 is not congruent: (8) in the shape stands against 1 in the stride");
  EXPECT_EQ(refusal("(2048,2049)"), "the shape (2048,2049) has more than the 4194304 elements that can be looked at");
  EXPECT_EQ(refusal("(281474976710656,281474976710656)"),
            "the shape (281474976710656,281474976710656) has more than the 4194304 elements that can be looked at");
  EXPECT_EQ(refusal("(3,3):(140737488355328,1)"), "(3,3):(140737488355328,1) has offsets beyond 281474976710656");
  EXPECT_EQ(refusal("Sw<3,2,3> o smem_ptr[64b](unset) o 8:1"),
            "Swizzle<3,2,3> on bytes takes elements of 8 bytes apart; its second number must be at least 3");
  EXPECT_EQ(elem_bytes_of({parse_layout("8:1"), parse_layout("smem_ptr[16b](unset) o 8:1")}, {}), 2);
  EXPECT_EQ(elem_bytes_of({parse_layout("8:1")}, {}), 4);
  EXPECT_THROW(elem_bytes_of({parse_layout("smem_ptr[16b](unset) o 8:1")}, 4), UsageError);
  EXPECT_THROW(
      elem_bytes_of({parse_layout("smem_ptr[16b](unset) o 8:1"), parse_layout("smem_ptr[32b](unset) o 8:1")}, {}),
      UsageError);
  EXPECT_THROW(Layout({0, {}}), UsageError);
  EXPECT_THROW(Layout({8, {}}, IntTuple{-1, {}}), UsageError);
  EXPECT_THROW(Layout({8, {}}, IntTuple{1, {}}, {{}, -1, 0}), UsageError);
  EXPECT_EQ(parse_layout("(2,2):(140737488355328,1)").cosize(), 140737488355328 + 2);
}

// The walks over power-of-two tiles are those of inlay/banks.h.
TEST(WarpAccesses, AreThoseOfTheModel) {
  int compared = 0;
  for (char const* expression :
       {"(32,64):(64,1)", "(32,64):(66,1)", "(32,64):(72,1)", "Swizzle<5,0,6> o (32,64):(64,1)",
        "Swizzle<3,2,6> o (32,64):(64,1)", "(32,16):(16,1)", "(64,32):(0,1)"}) {
    Layout const layout = parse_layout(expression);
    TileOffsets const tile = tile_of(layout);
    for (auto const direction : {banks::Access::load, banks::Access::store}) {
      for (int const bytes : {4, 8, 16}) {
        auto const vectors = vectors_of(tile, {Walk::row, bytes}, 4);
        if (!vectors) continue;
        EXPECT_EQ(wavefronts_of(tile, {Walk::row, bytes}, *vectors, 4, direction).worst,
                  banks::worst_row_wavefronts(layout, int(tile.rows), int(tile.cols), 4, bytes / 4, direction))
            << expression << ", " << bytes;
        ++compared;
      }
      EXPECT_EQ(wavefronts_of(tile, {Walk::column, 4}, {1, false}, 4, direction).worst,
                banks::worst_column_wavefronts(layout, int(tile.rows), int(tile.cols), 4, direction))
          << expression;
    }
  }
  EXPECT_EQ(compared, 2 * (7 * 3 - 1 - 2));  // rows of 66 and Swizzle<5,0,6> leave fewer vectors whole
}

TEST(WarpAccesses, VectorsMustBeContiguousAndAligned) {
  auto const found = [](char const* expression, int bytes, int elem_bytes) {
    return vectors_of(tile_of(parse_layout(expression)), {Walk::row, bytes}, elem_bytes);
  };
  EXPECT_FALSE(found("(32,64):(64,1)", 16, 4)->down);
  EXPECT_TRUE(found("(32,64)", 16, 4)->down);
  EXPECT_FALSE(found("(32,64):(66,1)", 16, 4));  // every other row begins between two vectors
  EXPECT_TRUE(found("(32,64):(66,1)", 8, 4));
  EXPECT_FALSE(found("(31,63):(64,1)", 8, 4));                    // no whole number of vectors
  EXPECT_FALSE(found("Swizzle<2,1,4> o (32,64):(64,1)", 16, 4));  // takes vectors of 4 apart
  EXPECT_TRUE(found("Swizzle<2,1,4> o (32,64):(64,1)", 8, 4));
  EXPECT_FALSE(found("(32,64):(64,1)", 4, 8));  // less than an element
}

// Lanes that are left over are off, and a partial warp needs fewer passes.
TEST(WarpAccesses, RaggedTiles) {
  TileOffsets const tile = tile_of(parse_layout("(3,40):(40,1)"));
  auto const row = wavefronts_of(tile, {Walk::row, 4}, {1, false}, 4, banks::Access::load);
  EXPECT_EQ(row.worst, 1u);
  auto const wide =
      wavefronts_of(tile, {Walk::row, 16}, {4, false}, 4, banks::Access::load);  // 10 vectors of a row: 30 lanes
  EXPECT_EQ(wide.request.active, (1u << 30) - 1);
  EXPECT_EQ(wide.worst, 4u);
  auto const small =
      wavefronts_of(tile_of(parse_layout("(2,16):(16,1)")), {Walk::row, 16}, {4, false}, 4, banks::Access::load);
  EXPECT_EQ(small.request.active, 0xFFu);
  EXPECT_EQ(small.worst, 1u);
  EXPECT_EQ(small.least, 1u);
}

TEST(WarpAccesses, Partitions) {
  Layout const rows = parse_layout("(32,8):(8,1)");  // thread t has the 8 elements from 8 t on, down the columns
  TileOffsets const tile = tile_of(parse_layout("(64,4):(1,64)"));
  WarpAccess const access{Walk::threads, 16, &rows};
  auto const vectors = vectors_of(tile, access, 4);
  ASSERT_TRUE(vectors);
  using PerWarp = std::vector<std::vector<unsigned>>;
  EXPECT_EQ(wavefronts_by_warp(tile, access, *vectors, 4, banks::Access::load),
            (PerWarp{{8, 8}}));  // half of the banks
  Layout const interleaved = parse_layout("((32,2),4):((1,32),64)");
  WarpAccess const scalar{Walk::threads, 4, &interleaved};
  EXPECT_FALSE(vectors_of(tile, {Walk::threads, 8, &interleaved}, 4));
  EXPECT_EQ(wavefronts_by_warp(tile, scalar, {1, false}, 4, banks::Access::load),
            (PerWarp{{1, 1, 1, 1}, {1, 1, 1, 1}}));
  Layout const beyond = parse_layout("(32,9):(8,1)");
  EXPECT_THROW(check_partition(tile, beyond), UsageError);
}

Suggestions suggested(char const* expression, int elem_bytes, std::vector<WarpAccess> const& accesses) {
  return suggest(parse_layout(expression), accesses, elem_bytes);
}
std::vector<std::string> names(std::vector<Suggestion> const& suggestions) {
  std::vector<std::string> all;
  for (Suggestion const& one : suggestions) all.push_back(to_string(one.layout));
  return all;
}
std::vector<WarpAccess> both(int row_bytes, int column_bytes) {
  return {{Walk::row, row_bytes}, {Walk::column, column_bytes}};
}

TEST(Suggest, FindsTheKnownAnswers) {
  auto const square = suggested("(32,32):(32,1)", 4, both(4, 4));
  EXPECT_EQ(names(square.free).front(), "Swizzle<5,0,5> o (32,32):(32,1)");
  EXPECT_EQ(names(square.free).at(1), "(32,32):(33,1)");
  EXPECT_EQ(square.free[1].more_bytes, 31 * 4);
  EXPECT_EQ(names(suggested("(32,64):(64,1)", 4, both(4, 4)).free).front(), "Swizzle<5,0,6> o (32,64):(64,1)");
  EXPECT_EQ(names(suggested("(64,64):(64,1)", 4, both(4, 4)).free).front(), "Swizzle<5,0,6> o (64,64):(64,1)");
  EXPECT_EQ(names(suggested("(8,64):(64,1)", 2, both(16, 16)).free).front(), "Swizzle<3,3,3> o (8,64):(64,1)");
  EXPECT_EQ(names(suggested("Swizzle<1,0,1> o (8,64):(64,1)", 2, both(16, 16)).free).front(),
            "Swizzle<3,3,3> o (8,64):(64,1)");
  EXPECT_EQ(names(suggested("(32,32)", 4, both(4, 4)).free).front(), "Swizzle<5,0,5> o (32,32):(1,32)");
}

TEST(Suggest, EveryAnswerHolds) {
  struct {
    char const* expression;
    int elem_bytes, row, column;
  } const tiles[] = {{"(32,64):(64,1)", 4, 4, 4},
                     {"(32,64):(64,1)", 2, 4, 2},
                     {"(64,64):(64,1)", 1, 1, 1},
                     {"(32,32):(32,1)", 8, 8, 8},
                     {"(16,128):(128,1)", 4, 16, 16},
                     {"(64,32):(1,64)", 4, 4, 4},
                     {"((8,8),(8,8)):((8,512),(1,64))", 2, 2, 2},
                     {"(32,(4,8)):(32,(1,4))", 4, 4, 4},
                     {"(31,33):(33,1)", 4, 4, 4},
                     {"(32,(2,32)):(32,(0,1))", 4, 4, 4}};
  for (auto const& [expression, elem_bytes, row, column] : tiles) {
    Layout const plain = parse_layout(expression);
    auto const found = suggested(expression, elem_bytes, both(row, column));
    EXPECT_TRUE(found.plain_is_free || !found.free.empty()) << expression;
    for (Suggestion const& one : found.free) {
      SCOPED_TRACE(to_string(one.layout));
      TileOffsets const tile = tile_of(one.layout);
      EXPECT_LE(one.layout.cosize(), plain.cosize() + one.more_bytes / elem_bytes);
      EXPECT_EQ(one.more_bytes == 0, one.layout.front().swizzle.bits > 0);
      for (WarpAccess const& a : both(row, column))
        for (auto const direction : {banks::Access::load, banks::Access::store}) {
          auto const vectors = vectors_of(tile, a, elem_bytes);
          ASSERT_TRUE(vectors);
          auto const w = wavefronts_of(tile, a, *vectors, elem_bytes, direction);
          EXPECT_EQ(w.worst, w.least);
        }
    }
  }
}

bool is_free(Layout const& layout, int elem_bytes, std::vector<WarpAccess> const& accesses) {
  TileOffsets const tile = tile_of(layout);
  return std::all_of(accesses.begin(), accesses.end(), [&](WarpAccess const& a) {
    auto const vectors = vectors_of(tile, a, elem_bytes);
    return vectors && excess_of(tile, a, *vectors, elem_bytes, 1) == 0;
  });
}

// Tiles of (8,8) within a tile: no pitch alone frees both directions, two together do.
TEST(Suggest, PadsPitchesThatNestTogether) {
  auto const found = suggested("((8,8),(8,8)):((8,512),(1,64))", 2, both(2, 2));
  ASSERT_EQ(found.free.size(), 1u);
  auto const tiles = [](std::int64_t a, std::int64_t b, std::int64_t c) {  // pitches of rows, of tiles, of their rows
    return parse_layout(fmt::format("((8,8),(8,8)):(({},{}),(1,{}))", a, c, b));
  };
  EXPECT_TRUE(is_free(tiles(8, 72, 578), 2, both(2, 2)));  // one of them
  std::int64_t const plain = 4096, best = found.free[0].layout.cosize();
  EXPECT_LE(best, tiles(8, 72, 578).cosize());
  EXPECT_EQ(found.free[0].more_bytes, 2 * (best - plain));
  for (std::int64_t a = 8; a < 72; ++a)  // each pitch longer than what it holds by 0 to 63 elements
    for (std::int64_t b = 8 * a; b < 8 * a + 64; ++b)
      for (std::int64_t c = 8 * b; c < 8 * b + 64; ++c)
        if (Layout const layout = tiles(a, b, c); layout.cosize() < best) {
          EXPECT_FALSE(is_free(layout, 2, both(2, 2))) << to_string(layout);
        } else {
          break;
        }
}

// Eight places for vectors, so that a column takes four wavefronts in any layout: not all paddings are tried, and that
// is said.
TEST(Suggest, SaysHowManyPaddingsWereTried) {
  char const* const nested = "((4,8,8),(16,4,4)):((16,256,8192),(1,64,2048))";
  auto const accesses = both(16, 1);
  auto const found = suggested(nested, 1, accesses);
  EXPECT_TRUE(found.free.empty());
  EXPECT_EQ(found.paddings_tried, 512);
  EXPECT_NE(table(found, parse_layout(nested), accesses, 1)
                .find("no swizzle and none of the 512 paddings that were tried is free of conflicts"),
            std::string::npos);
  EXPECT_EQ(suggested("(32,32):(32,1)", 4, both(16, 4)).paddings_tried, 0);  // all
}

// What docs/02 says of a row-major tile whose widest access is as wide as a granule: B counts the granules of a row, or
// of 128 bytes where it is longer; M + S is where the row number begins, or the 128 bytes where rows are shorter.
Swizzle rule(std::int64_t row_bytes, int elem_bytes, int granule) {
  auto const log2 = [](std::int64_t n) { return std::countr_zero(std::uint64_t(n)); };
  int const B = log2(std::min<std::int64_t>(row_bytes, 128) / granule), M = log2(granule / elem_bytes);
  return {B, M, log2(std::max<std::int64_t>(row_bytes, 128) / elem_bytes) - M};
}
TEST(Suggest, TheRuleHoldsForRowsOfAnyLength) {
  int tiles = 0;
  for (int elem_bytes : {1, 2, 4, 8, 16})
    for (int granule = std::max(4, elem_bytes); granule <= 16; granule *= 2)
      for (std::int64_t row_bytes = granule; row_bytes <= 2048; row_bytes *= 2) {
        std::int64_t const cols = row_bytes / elem_bytes, rows = 64;
        Layout const plain = parse_layout(fmt::format("({},{}):({},1)", rows, cols, cols));
        Swizzle const swizzle = rule(row_bytes, elem_bytes, granule);
        SCOPED_TRACE(
            fmt::format("{}, elements of {}, granules of {}", to_string(plain.with(swizzle)), elem_bytes, granule));
        EXPECT_GE(swizzle.shift, swizzle.bits);
        EXPECT_EQ(plain.with(swizzle).cosize(), plain.cosize());
        EXPECT_TRUE(is_free(plain.with(swizzle), elem_bytes, both(granule, granule)));
        if (granule == 4) {  // single elements down a column: they are in granules of their own
          EXPECT_TRUE(is_free(plain.with(swizzle), elem_bytes, both(elem_bytes, elem_bytes)));
        }
        ++tiles;
      }
  EXPECT_EQ(tiles, 3 * (10 + 9 + 8) + (9 + 8) + 8);
  EXPECT_EQ(on_bytes(rule(64, 2, 16), 2), (Swizzle{2, 4, 3}));  // TMA's of 64 bytes, and of 32
  EXPECT_EQ(on_bytes(rule(32, 4, 16), 4), (Swizzle{1, 4, 3}));
}

// All swizzles, with negative shifts too.
TEST(Suggest, NothingWithFewerBitsWouldDo) {
  struct {
    char const* expression;
    int elem_bytes, bytes, bits;
  } const known[] = {{"(32,32):(32,1)", 4, 4, 5},
                     {"(32,64):(64,1)", 4, 4, 5},
                     {"(8,64):(64,1)", 2, 16, 3},
                     {"(2,64):(64,1)", 4, 4, 1},
                     {"(32,36):(36,1)", 4, 4, 2}};
  for (auto const& [expression, elem_bytes, bytes, needed] : known) {
    Layout const plain = parse_layout(expression);
    std::vector<std::string> all;
    for (int bits = 0; bits <= needed; ++bits)
      for (int base = 0; base < 11; ++base)
        for (int shift = -11; shift <= 11; ++shift) {
          Layout const layout = plain.with({bits, base, shift});
          if (std::abs(shift) >= bits && layout.cosize() <= plain.cosize() &&
              is_free(layout, elem_bytes, both(bytes, bytes)))
            all.push_back(to_string(layout));
        }
    auto found = suggested(expression, elem_bytes, both(bytes, bytes)).free;
    std::erase_if(found, [&](Suggestion const& one) {
      int const bits = one.layout.front().swizzle.bits;
      return bits == 0 || bits > needed;
    });
    EXPECT_EQ(all, names(found));
  }
}

TEST(Suggest, SaysWhenThereIsNothing) {
  auto const none = suggested("(32,32):(32,1)", 4, both(16, 4));  // 8 places for vectors, 32 rows
  EXPECT_TRUE(none.free.empty());
  ASSERT_EQ(none.nearest.size(), 1u);
  EXPECT_EQ(none.nearest[0].excess, 3u);
  EXPECT_TRUE(suggested("(32,32):(32,1)", 4, {{Walk::row, 4}}).plain_is_free);
  for (Suggestion const& one :
       suggested("(2,20):(20,1)", 4, both(4, 4)).free)  // Swizzle<1,4,1> would reach offset 47 of 40
    EXPECT_EQ(one.layout.front().swizzle.bits, 0) << to_string(one.layout);
  EXPECT_NE(suggested("(32,32):(33,1)", 4, both(8, 4)).impossible, nullptr);
}

}  // namespace
}  // namespace inlay::lab
