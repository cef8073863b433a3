// Lists of copies: grouping, choice, and replays of the kernels that take them.
#include <gtest/gtest.h>

#include <inlay/planner/candidate.h>
#include <inlay/planner/copy_list.h>
#include "mutants.h"

namespace inlay::test {
namespace {
using namespace planner;
using replay::Check, replay::Recorder;

void* at(std::uintptr_t address) { return reinterpret_cast<void*>(address); }
Tensor block(std::uintptr_t address, std::int64_t n = 64) { return matrix(at(address), b32, n, n); }
ConstTensor source(std::uintptr_t address, std::int64_t n = 64) { return block(address, n).transposed(); }
std::string error_of(std::vector<Tensor> const& dst, std::vector<ConstTensor> const& src) {
  try {
    group_copies(dst, src);
  } catch (Error const& e) {
    return e.what();
  }
  return "none";
}

TEST(Lists, CopiesOfOneLayoutShareALaunch) {
  std::vector<Tensor> const dst{block(0x100000), block(0x200000, 32), block(0x300000),
                                block(0x400004), block(0x500000),     block(0x600000, 0)};
  std::vector<ConstTensor> const src{source(0x1100000), source(0x1200000, 32), source(0x1300000),
                                     source(0x1400000), source(0x1500000),     source(0x1600000, 0)};
  auto const groups = group_copies(dst, src);
  ASSERT_EQ(groups.size(), 3u);  // the fourth is misaligned, the last has no elements
  EXPECT_EQ(groups[0].copy.pairs, 3);
  EXPECT_EQ(groups[0].pairs[2].dst, at(0x500000));
  EXPECT_EQ(groups[0].pairs[2].src, at(0x1500000));
  EXPECT_EQ(groups[1].copy.pairs, 1);
  EXPECT_EQ(groups[2].copy.pairs, 1);
}
// Modes are reversed to make destination strides positive: pairs name where the canonical modes begin.
TEST(Lists, PairsBeginWhereTheModesBegin) {
  auto const reversed = [](std::uintptr_t address) { return tensor(at(address), b32, {100}, {-1}); };
  std::vector<Tensor> const dst{reversed(0x100000), reversed(0x200000)};
  std::vector<ConstTensor> const src{tensor(at(0x300000), b32, {100}), tensor(at(0x400000), b32, {100})};
  auto const groups = group_copies(dst, src);
  ASSERT_EQ(groups.size(), 1u);
  EXPECT_EQ(groups[0].pairs[1].dst, at(0x200000 - 99 * 4));
  EXPECT_EQ(groups[0].pairs[1].src, at(0x400000 + 99 * 4));
}
TEST(Lists, WhatDoesNotFitIsSaid) {
  EXPECT_EQ(error_of({block(0x100000)}, {}), "the list has 1 destinations and 0 sources");
  EXPECT_EQ(error_of({block(0x100000), block(0x200000)}, {source(0x1100000), source(0x1200000, 32)}),
            "pair 1 of the list: the destination has shape (64,64) where the source gives (32,32)");
  EXPECT_EQ(error_of({block(0x100000), block(0x200000)},
                     {source(0x1100000), ConstTensor(matrix(static_cast<void*>(nullptr), b32, 64, 64))}),
            "pair 1 of the list: the source is a null pointer, but has elements");
  EXPECT_EQ(error_of({block(0x100000), block(0x100100)}, {source(0x1100000), source(0x1200000)}),
            "list of copies: destination 0 and destination 1 overlap in memory");
  EXPECT_EQ(error_of({block(0x100000), block(0x200000)}, {source(0x1100000), source(0x102000)}),
            "list of copies: destination 0 and source 1 overlap in memory");
  EXPECT_EQ(error_of({block(0x100000), block(0x200000)}, {source(0x1100000), source(0x1100000)}), "none");
  // Column blocks of one matrix lie between each other and share no byte.
  Tensor const wide = matrix(at(0x100000), b32, 64, 128);
  EXPECT_EQ(error_of({wide.slice(1, 0, 64), wide.slice(1, 64, 64)}, {source(0x1100000), source(0x1200000)}), "none");
}
TEST(Lists, AListIsPlannedAsAWhole) {
  Copy copy = make_copy(block(0x100000, 512), source(0x1100000, 512));
  Plan const one = make_plan(copy, Device{}, false);
  copy.pairs = 64;
  Plan const list = make_plan(copy, Device{}, false);
  ASSERT_GE(list.candidate, 0);
  EXPECT_TRUE(candidates<Copy>()[std::size_t(list.candidate)].kernel->takes_lists);
  EXPECT_GT(list.seconds, 10 * one.seconds);
  EXPECT_LT(list.seconds, 64 * one.seconds);
  std::string const text = why(list, copy, Device{}, false);
  EXPECT_NE(text.find("list of 64 copies, each a copy of 262144 elements"), std::string::npos) << text;
  EXPECT_NE(text.find("transpose_batched: it copies one pair of operands in a launch, not 64"), std::string::npos)
      << text;
}

// Replays three copies of one layout, each between buffers of its own that begin `past` bytes past a multiple of 256.
std::unique_ptr<Recorder> replayed(char const* kernel, Tensor dst, ConstTensor src, int past,
                                   bool same_destination = false) {
  auto recorder = std::make_unique<Recorder>();
  recorder->kernel = "list";
  int const e = bytes_of(dst.dtype);
  auto const buffer = [&](char const* name, unsigned seed) {
    return static_cast<char*>(recorder->allocate(name, std::size_t(1 << 16), e, seed)) + past;
  };
  std::vector<Pair> pairs;
  for (unsigned i = 0; i < 3; ++i) pairs.push_back({buffer("out", 2 * i), buffer("in", 2 * i + 1)});
  if (same_destination) pairs[1].dst = pairs[0].dst;
  dst.data = pairs[0].dst, src.data = pairs[0].src;
  Copy copy = make_copy(dst, src);
  copy.pairs = 3;
  entry_named(registry::copy_kernels(), kernel).replay_list(copy, pairs, Device{}, *recorder);
  return recorder;
}
void expect_right(char const* kernel, Tensor const& dst, ConstTensor const& src, int past) {
  SCOPED_TRACE(kernel);
  auto const recorder = replayed(kernel, dst, src, past);
  for (auto const& finding : recorder->findings) ADD_FAILURE() << finding.sentence;
  EXPECT_FALSE(recorder->sites.empty());
}
TEST(Lists, EachPairIsCopied) {
  Tensor const cube = tensor(static_cast<void*>(nullptr), b16, {9, 17, 23});
  expect_right("copy_tiled_16k", cube, tensor(static_cast<void const*>(nullptr), b16, {23, 17, 9}).permuted({2, 1, 0}),
               6);
  expect_right("copy_direct", tensor(static_cast<void*>(nullptr), b32, {7, 33}),
               tensor(static_cast<void const*>(nullptr), b32, {7, 33}, {40, 1}), 4);
  expect_right("transpose_registers", tensor(static_cast<void*>(nullptr), b32, {72, 100}),
               tensor(static_cast<void const*>(nullptr), b32, {100, 72}).transposed(), 0);
  expect_right("transpose_realigned", tensor(static_cast<void*>(nullptr), b8, {131, 97}),
               tensor(static_cast<void const*>(nullptr), b8, {97, 131}).transposed(), 3);
  expect_right("transpose_realigned", tensor(static_cast<void*>(nullptr), b32, {71, 67}),
               tensor(static_cast<void const*>(nullptr), b32, {67, 71}).transposed(), 12);
}
// Pairs that begin at different addresses modulo 32, in one launch.
void expect_right_at_any_alignment(Tensor dst, ConstTensor src) {
  Recorder recorder;
  recorder.kernel = "list";
  int const e = bytes_of(dst.dtype);
  std::vector<Pair> pairs;
  for (int i = 0; i < 5; ++i)
    pairs.push_back({static_cast<char*>(recorder.allocate("out", 1 << 16, e, unsigned(2 * i))) + 7 * i * e,
                     static_cast<char*>(recorder.allocate("in", 1 << 16, e, unsigned(2 * i + 1))) + 3 * i * e});
  dst.data = pairs[1].dst, src.data = pairs[1].src;
  Copy copy = make_copy(dst, src);
  copy.pairs = 5, copy.any_alignment = true;
  entry_named(registry::copy_kernels(), "transpose_realigned").replay_list(copy, pairs, Device{}, recorder);
  for (auto const& finding : recorder.findings) ADD_FAILURE() << finding.sentence;
  EXPECT_FALSE(recorder.sites.empty());
}
TEST(Lists, PairsOfAnyAlignmentAreCopied) {
  auto const matrices = [](DType type) {
    return std::pair{tensor(static_cast<void*>(nullptr), type, {131, 97}),
                     tensor(static_cast<void const*>(nullptr), type, {97, 131}).transposed()};
  };
  auto const [dst, src] = matrices(b8);
  expect_right_at_any_alignment(dst, src);
  auto const [dst2, src2] = matrices(b16);
  expect_right_at_any_alignment(dst2, src2);
  auto const [dst4, src4] = matrices(b32);
  expect_right_at_any_alignment(dst4, src4);
}
// Groups with equal modes can be one launch by a kernel that takes any alignment.
TEST(Lists, GroupsOfOneLayoutAreMerged) {
  std::vector<Tensor> const dst{block(0x100000, 511), block(0x300004, 511), block(0x500000, 64), block(0x700008, 511)};
  std::vector<ConstTensor> const src{source(0x1100000, 511), source(0x1300000, 511), source(0x1500000, 64),
                                     source(0x1700010, 511)};
  auto const groups = group_copies(dst, src);
  ASSERT_EQ(groups.size(), 4u);
  std::vector<std::vector<std::size_t>> parts;
  auto const merged = merged_groups(groups, parts);
  ASSERT_EQ(merged.size(), 1u);
  EXPECT_EQ(parts[0], (std::vector<std::size_t>{0, 1, 3}));
  EXPECT_EQ(merged[0].copy.pairs, 3);
  EXPECT_EQ(merged[0].pairs[2].dst, at(0x700008));
  Plan const plan = make_plan(merged[0].copy, Device{}, false);
  ASSERT_GE(plan.candidate, 0);
  EXPECT_STREQ(candidates<Copy>()[std::size_t(plan.candidate)].kernel->name, "transpose_realigned");
}
TEST(Lists, TwoPairsThatWriteOneElementAreFound) {
  auto const recorder = replayed("copy_direct", tensor(static_cast<void*>(nullptr), b32, {7, 33}),
                                 tensor(static_cast<void const*>(nullptr), b32, {7, 33}, {40, 1}), 4, true);
  ASSERT_TRUE(recorder->found(Check::coverage));
  EXPECT_EQ(recorder->findings[0].sentence, "list, block 1, thread 31: writes out[116] (byte 464) once more");
}

}  // namespace
}  // namespace inlay::test
