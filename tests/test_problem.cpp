// Tensor arguments -> Copy: what is refused, in which words, and what the canonical form is.
#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <set>

#include <inlay/problem/copy.h>
#include <inlay/problem/footprint.h>

namespace inlay::problem {
namespace {

void* at(std::uint64_t address) { return reinterpret_cast<void*>(address); }
constexpr std::uint64_t kSrc = 1u << 20, kDst = 1u << 28;

std::string refusal(Tensor const& dst, Tensor const& src) {
  try {
    make_copy(dst, src);
  } catch (Error const& e) {
    return e.what();
  }
  return "";
}
Tensor floats(std::uint64_t address, std::int64_t rows, std::int64_t cols, std::int64_t pitch = 0) {
  return matrix(at(address), f32, rows, cols, pitch ? pitch : cols);
}

TEST(Copy, TransposeIsTwoModesSortedByDestination) {
  Copy const m = make_copy(floats(kDst, 5, 3), floats(kSrc, 3, 5).transposed());
  ASSERT_EQ(m.rank, 2);
  EXPECT_EQ(m.mode[0].extent, 3);
  EXPECT_EQ(m.mode[0].dst_stride, 4);
  EXPECT_EQ(m.mode[0].src_stride, 20);
  EXPECT_EQ(m.mode[1].extent, 5);
  EXPECT_EQ(m.mode[1].dst_stride, 12);
  EXPECT_EQ(m.mode[1].src_stride, 4);
}
TEST(Copy, ContiguousCopyFusesToOneMode) {
  Copy const m = make_copy(floats(kDst, 30, 50), floats(kSrc, 30, 50));
  ASSERT_EQ(m.rank, 1);
  EXPECT_EQ(m.mode[0].extent, 1500);
}
TEST(Copy, PitchKeepsRowsApart) { EXPECT_EQ(make_copy(floats(kDst, 30, 50, 64), floats(kSrc, 30, 50)).rank, 2); }
TEST(Copy, ExtentsOfOneGo) { EXPECT_EQ(make_copy(floats(kDst, 1, 50), floats(kSrc, 1, 50, 64)).rank, 1); }
TEST(Copy, NegativeDestinationStridesAreTurned) {
  Tensor dst = floats(kDst, 1, 8);
  dst.data = at(kDst + 28), dst.stride[1] = -1;
  Copy const m = make_copy(dst, floats(kSrc, 1, 8));
  EXPECT_EQ(m.dst, at(kDst));
  EXPECT_EQ(m.src, at(kSrc + 28));
  EXPECT_EQ(m.mode[0].src_stride, -4);
}
TEST(Views, OfNoRankAreRefused) {
  auto const said = [](auto const& f) -> std::string {
    try {
      f();
    } catch (Error const& e) {
      return e.what();
    }
    return "";
  };
  for (int rank : {1 << 30, 65, -1}) {
    Tensor t = floats(kSrc, 3, 5);
    t.rank = rank;
    std::string const what = ": the tensor has rank " + std::to_string(rank) + ", which is not between 0 and 64";
    EXPECT_EQ(said([&] { (void)t.transposed(); }), "transposed" + what);
    EXPECT_EQ(said([&] { (void)t.slice(0, 0, 1); }), "slice" + what);
    EXPECT_EQ(said([&] { (void)t.broadcast({3, 5}); }), "broadcast" + what);
    EXPECT_EQ(said([&] { (void)t.reshape({15}); }), "reshape" + what);
    EXPECT_EQ(said([&] { (void)t.permuted({1, 0}); }), "permuted" + what);
  }
}
TEST(Copy, EmptyNeedsNoPointers) { EXPECT_EQ(make_copy(floats(0, 0, 5), floats(0, 5, 0).transposed()).elements(), 0); }

// What a copy is, worked out when it is made.
TEST(Copy, KnowsWhatKindItIs) {
  auto const pair = [](std::uint64_t address, std::int64_t batch, std::int64_t row, std::int64_t col) {
    Tensor t = floats(address, 8, 8);
    t.rank = 3;
    t.extent[0] = 2, t.extent[2] = 8;
    t.stride[0] = batch, t.stride[1] = row, t.stride[2] = col;
    return t;
  };
  struct {
    Copy copy;
    Copy::Kind kind;
    char const* name;
    bool copies, transposes;  // as one of these it can be looked at
  } const cases[] = {
      {make_copy(floats(kDst, 30, 50), floats(kSrc, 30, 50)), Copy::Kind::contiguous, "contiguous copy", true, true},
      {make_copy(floats(kDst, 1, 1), floats(kSrc, 1, 1)), Copy::Kind::contiguous, "contiguous copy", true, true},
      {make_copy(floats(0, 0, 5), floats(0, 0, 5)), Copy::Kind::contiguous, "contiguous copy", true, true},
      {make_copy(floats(kDst, 30, 50, 64), floats(kSrc, 30, 50)), Copy::Kind::rows, "copy of rows", true, true},
      {make_copy(floats(kDst, 5, 3), floats(kSrc, 3, 5).transposed()), Copy::Kind::transpose, "transpose", true, true},
      {make_copy(pair(kDst, 100, 8, 1), pair(kSrc, 90, 8, 1).transposed()), Copy::Kind::transpose, "transpose", false,
       true},
      {make_copy(pair(kDst, 64, 8, 1), pair(kSrc, 500, 32, 2)), Copy::Kind::general, "general copy", false, false},
  };
  for (auto const& [copy, kind, name, copies, transposes] : cases) {
    SCOPED_TRACE(name);
    EXPECT_EQ(copy.kind, kind);
    EXPECT_STREQ(name_of(copy.kind), name);
    EXPECT_EQ(copy.as_copy().has_value(), copies);
    EXPECT_EQ(copy.as_transpose().has_value(), transposes);
  }
}
TEST(Copy, BetweenOtherPlacesIsTheSameCopy) {
  Copy const m = make_copy(floats(kDst, 30, 50, 64), floats(kSrc, 30, 50));
  Copy const n = m.between(at(kSrc + 4096), at(kDst + 4096));
  EXPECT_EQ(n.src, at(kSrc + 4096));
  EXPECT_EQ(n.dst, at(kDst + 4096));
  ASSERT_EQ(n.rank, m.rank);
  for (int k = 0; k < m.rank; ++k) EXPECT_EQ(n.mode[k].extent, m.mode[k].extent);
  EXPECT_EQ(n.kind, m.kind);
  ASSERT_TRUE(n.as_copy() && n.as_transpose());
  for (auto const& x : {n.as_copy(), n.as_transpose()}) {
    EXPECT_EQ(x->in, n.src);
    EXPECT_EQ(x->out, n.dst);
  }
  EXPECT_EQ(n.as_copy()->ld_out, 64);
  EXPECT_EQ(m.src, at(kSrc));  // and the first stays what it was
  EXPECT_EQ(m.as_copy()->in, at(kSrc));
}
TEST(Copy, SaysHowFarItsBasesAreFromTheViews) {
  Tensor dst = floats(kDst, 1, 8);
  dst.data = at(kDst + 28), dst.stride[1] = -1;
  Copy const m = make_copy(dst, floats(kSrc, 1, 8));
  EXPECT_EQ(m.dst_shift, -28);
  EXPECT_EQ(m.src_shift, 28);
  Copy const n = make_copy(floats(kDst, 30, 50), floats(kSrc, 30, 50));
  EXPECT_EQ(n.dst_shift, 0);
  EXPECT_EQ(n.src_shift, 0);
}

TEST(Matrices, RowsAndColumnsAreTransposes) {
  auto const row = make_copy(floats(kDst, 7, 1), floats(kSrc, 1, 7).transposed()).as_transpose();
  ASSERT_TRUE(row);
  EXPECT_EQ(row->M * row->N, 7);
  auto const pitched = make_copy(floats(kDst, 1, 7), floats(kSrc, 7, 1, 16).transposed()).as_transpose();
  ASSERT_TRUE(pitched);
  EXPECT_EQ(pitched->M, 7);
  EXPECT_EQ(pitched->ld_in, 16);
}
TEST(Matrices, ACopyOfRowsIsNoSingleTranspose) {
  Copy const m = make_copy(floats(kDst, 3, 4, 8), floats(kSrc, 3, 4, 16));
  EXPECT_TRUE(m.as_copy());
  EXPECT_EQ(m.as_transpose()->L, 3);  // a batch of rows
}

TEST(Refusals, AreSentencesWithTheValues) {
  EXPECT_EQ(refusal(floats(kDst, 5, 4), floats(kSrc, 3, 5).transposed()),
            "the destination has shape (5,4) where the source gives (5,3)");
  EXPECT_EQ(refusal(floats(0, 5, 3), floats(kSrc, 3, 5).transposed()),
            "the destination is a null pointer, but has elements");
  EXPECT_EQ(refusal(floats(kDst + 2, 5, 3), floats(kSrc, 3, 5).transposed()),
            "the destination begins 2 bytes past a multiple of its element size, 4");
  DType const six = opaque(6);
  EXPECT_EQ(refusal(matrix(at(kDst + 1), six, 5, 3), matrix(at(kSrc), six, 3, 5).transposed()),
            "the destination begins 1 bytes past a multiple of 2, which elements of 6 bytes need");
  EXPECT_EQ(refusal(matrix(at(kDst), f64, 5, 3), floats(kSrc, 3, 5).transposed()),
            "the destination has elements of 8 bytes, the source of 4");
  auto const of_type = [](std::uintptr_t p, DType type) { return matrix(at(p), type, 5, 3); };
  EXPECT_EQ(refusal(of_type(kDst, bf16), of_type(kSrc, f16)),
            "the destination is of bf16, the source of f16: a copy does not convert; view one of them as b16");
  EXPECT_EQ(refusal(of_type(kDst, i32), floats(kSrc, 5, 3)),
            "the destination is of i32, the source of f32: a copy does not convert; view one of them as b32");
  for (auto const& [to, from] :
       {std::pair{f16, opaque(2)}, {opaque(4), f32}, {i8, u8}, {u64, i64}, {f32, tf32}, {e5m2, e5m2}})
    EXPECT_NO_THROW(make_copy(of_type(kDst, to), of_type(kSrc, from))) << name_of(to);
  EXPECT_EQ(refusal(floats(kDst, -5, 3), floats(kSrc, 3, -5).transposed()),
            "the destination of shape (-5,3) has a negative extent");
  EXPECT_EQ(refusal(floats(kDst, 5, 3, 2), floats(kSrc, 3, 5).transposed()),
            "the destination of shape (5,3) has strides with which its elements overlap");
  EXPECT_EQ(refusal(floats(kDst, std::int64_t(1) << 40, std::int64_t(1) << 40),
                    floats(kSrc, std::int64_t(1) << 40, std::int64_t(1) << 40)),
            "the byte offsets of the destination of shape (1099511627776,1099511627776) exceed 63 bits");
}
TEST(Refusals, Overlap) {
  EXPECT_EQ(refusal(floats(kSrc, 5, 3), floats(kSrc, 3, 5).transposed()),
            "the source and the destination of shape (5,3) overlap in memory");
  EXPECT_NE(refusal(floats(kSrc + 56, 5, 3), floats(kSrc, 3, 5).transposed()), "");
  EXPECT_EQ(refusal(floats(kSrc + 60, 5, 3), floats(kSrc, 3, 5).transposed()), "");  // the next byte
}
TEST(Refusals, ColumnBlocksOfOneMatrixDoNotOverlap) {
  EXPECT_EQ(refusal(floats(kSrc + 4 * 8, 8, 8, 16), floats(kSrc, 8, 8, 16).transposed()), "");
  EXPECT_NE(refusal(floats(kSrc + 4 * 7, 8, 8, 16), floats(kSrc, 8, 8, 16).transposed()), "");
}
TEST(Refusals, DiagonalsOfOneMatrixDoNotOverlap) {
  constexpr std::int64_t n = 100;  // (n):(n+1)
  auto const diagonal = [](std::int64_t first) {
    return tensor(at(kSrc + 4 * std::uint64_t(first)), f32, {n - 1}, {n + 1});
  };
  EXPECT_EQ(refusal(diagonal(0), diagonal(1)), "");
  EXPECT_EQ(refusal(diagonal(0), diagonal(n)), "");
  EXPECT_NE(refusal(diagonal(0), diagonal(n + 1)), "");
  auto const row = [](std::int64_t first) { return tensor(at(kSrc + 4 * std::uint64_t(first)), f32, {n - 1}); };
  EXPECT_NE(refusal(diagonal(0), row(n)), "");  // meets the row in its second element
  EXPECT_EQ(refusal(tensor(at(kSrc), f32, {10}, {1000}), tensor(at(kSrc + 4), f32, {10}, {700})), "");
  auto const diagonals = [](std::int64_t first) {  // of three matrices, one behind the other
    return tensor(at(kSrc + 4 * std::uint64_t(first)), f32, {3, n - 1}, {n * n, n + 1});
  };
  EXPECT_EQ(refusal(diagonals(0), diagonals(1)), "");
  EXPECT_NE(refusal(diagonals(0), diagonals(n * n)), "");
}
// Against all bytes of both: exact for views of one mode and of two.
TEST(Refusals, OverlapIsExactForFewModes) {
  std::mt19937 random(7);
  auto const below = [&](int n) { return std::int64_t(random() % unsigned(n)); };
  int apart = 0, meeting = 0;
  for (int i = 0; i < 20000; ++i) {
    Footprint f[2] = {{nullptr, 1}, {nullptr, 1}};
    std::set<std::uint64_t> bytes[2];
    for (int side : {0, 1}) {
      std::int64_t const e = std::int64_t(1) << below(4);
      int const modes = 1 + int(below(2));
      ConstTensor t{at(0x10000 + 8 * std::uint64_t(below(40)) + (e == 1 ? std::uint64_t(below(8)) : 0)),
                    opaque(int(e)),
                    modes,
                    {},
                    {}};
      for (int k = 0; k < modes; ++k) t.extent[k] = 1 + below(6), t.stride[k] = below(31) - 15;
      f[side] = Footprint(t);
      for (std::int64_t a = 0; a < t.extent[0]; ++a)
        for (std::int64_t b = 0; b < (modes > 1 ? t.extent[1] : 1); ++b)
          for (std::int64_t byte = 0; byte < e; ++byte)
            bytes[side].insert(std::uint64_t(reinterpret_cast<std::int64_t>(t.data) +
                                             (a * t.stride[0] + (modes > 1 ? b * t.stride[1] : 0)) * e + byte));
    }
    bool share = false;
    for (std::uint64_t byte : bytes[0]) share |= bytes[1].contains(byte);
    ASSERT_EQ(overlap(f[0], f[1]), share) << i;
    ++(share ? meeting : apart);
  }
  EXPECT_GT(apart, 5000);
  EXPECT_GT(meeting, 4000);
}
// A workspace between the rows of a matrix, and one that reaches into the next row.
TEST(Refusals, RangesOfMemoryBetweenRows) {
  constexpr std::int64_t pitch = std::int64_t(1) << 33;
  Footprint const rows(ConstTensor(tensor(at(kSrc), f32, {100, 16}, {pitch, 1})));
  EXPECT_FALSE(overlap(rows, Footprint(at(kSrc + 64), 4 * pitch - 64)));
  EXPECT_TRUE(overlap(rows, Footprint(at(kSrc + 64), 4 * pitch - 63)));
  EXPECT_TRUE(overlap(rows, Footprint(at(kSrc + 63), 4 * pitch - 64)));
}
TEST(Refusals, ColumnBlocksDoNotOverlapWhereverTheMatrixLies) {
  for (std::int64_t pitch : {20, 24, 1000, 10009})
    for (std::uint64_t base = kSrc; base < kSrc + 4096; base += 256) {
      std::int64_t const n = pitch / 2;
      Tensor const left = floats(base, n, n, pitch), right = floats(base + std::uint64_t(4 * n), n, n, pitch);
      EXPECT_EQ(refusal(left, right.transposed()), "") << pitch << " at " << base;
      EXPECT_EQ(refusal(right, left.transposed()), "") << pitch << " at " << base;
      EXPECT_NE(refusal(floats(base + std::uint64_t(4 * (n - 1)), n, n, pitch), left.transposed()), "");
    }
}
TEST(Refusals, StridesOfSingleExtentsDoNotMatter) {
  Tensor src = floats(kSrc, 1, 8);
  src.stride[0] = std::int64_t(1) << 62;
  EXPECT_EQ(make_copy(floats(kDst, 8, 1), src.transposed()).rank, 1);
}
// Nor is anything computed with them: these tests are also built with arithmetic that traps.
TEST(Refusals, StridesOfSingleExtentsMayBeAnything) {
  for (std::int64_t any : {std::int64_t(1) << 62, std::int64_t(-1) << 62, std::numeric_limits<std::int64_t>::min()})
    for (int mode : {0, 1, 2}) {
      std::int64_t extents[] = {4, 6, 8}, strides[] = {100, 10, 1};
      extents[mode] = 1, strides[mode] = any;
      Tensor const dst = tensor(at(kDst), f32, extents, strides), src = tensor(at(kSrc), f32, extents, strides);
      EXPECT_EQ(make_copy(dst, src).elements(), 4 * 6 * 8 / (mode + 2) / 2);
      EXPECT_EQ(make_copy(dst, tensor(at(kSrc), f32, extents)).elements(), 4 * 6 * 8 / (mode + 2) / 2);
      EXPECT_EQ(dst.slice(mode, 0, 1).data, dst.data);
      EXPECT_EQ(dst.slice(mode, 1, 0).extent[mode], 0);
    }
}
TEST(Refusals, ViewsThatLeaveTheAddressSpace) {
  std::uint64_t const end = ~std::uint64_t(0) - 255;  // 256 bytes are left
  EXPECT_EQ(refusal(floats(end - 4, 8, 8), floats(kSrc, 8, 8)), "");
  EXPECT_EQ(refusal(floats(end, 8, 8), floats(kSrc, 8, 8)), "the destination of shape (8,8) leaves the address space");
  EXPECT_EQ(refusal(floats(kDst, 8, 8), floats(128, 8, 8, -8)), "the source of shape (8,8) leaves the address space");
}
TEST(Views, BadAxesAndRanges) {
  EXPECT_THROW(floats(kSrc, 3, 4).permuted({0, 0}), Error);
  EXPECT_THROW(floats(kSrc, 3, 4).permuted({0}), Error);
  EXPECT_THROW(floats(kSrc, 3, 4).slice(1, 2, 3), Error);
  EXPECT_EQ(floats(kSrc, 3, 4).slice(1, 2, 2).data, at(kSrc + 8));
}

}  // namespace
}  // namespace inlay::problem
