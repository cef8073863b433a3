// Copies between any layouts without a GPU: every kernel that takes a case, replayed with all checks; and the planner.
#include <gtest/gtest.h>

#include <cstring>
#include <iostream>
#include <map>
#include <set>

#include <inlay/kernels/copy/copy_tiling.h>
#include <inlay/kernels/kernel_list.h>
#include <inlay/planner/candidate.h>
#include <inlay/registry/registry.h>
#include "copy_corpus.h"
#include "long_tests.h"

namespace inlay::test {
namespace {
using namespace registry;
using planner::candidates, planner::Candidate, planner::make_plan, kernels::CopyTile, planner::why;

Entry<Copy> const* entry_of(Info<Copy> const* info) {
  for (auto const& entry : copy_kernels())
    if (entry.kernel == info) return &entry;
  return nullptr;
}

// Replays a case by every row of the planner that takes it, and counts the cases of each.
std::map<std::string, int> taken;
void replay_all(Copied const& c) {
  SCOPED_TRACE(c.text());
  for (Candidate<Copy> const& row : candidates<Copy>()) {
    Entry<Copy> const* const entry = entry_of(row.kernel);
    EXPECT_TRUE(entry);
    SCOPED_TRACE(row.kernel->name);
    Recorder recorder;
    void* const in = recorder.allocate("in", c.src_bytes() + 64, 1, 1);
    void* const out = recorder.allocate("out", c.dst_bytes() + 64, 1, 2);
    Copy const copy = c.copy(in, out);
    if (entry->info().rejects(copy, Device{})) continue;
    ++taken[row.kernel->name];
    entry->replay(copy, Device{}, recorder);
    for (auto const& f : recorder.findings) ADD_FAILURE() << name_of(f.check) << ": " << f.sentence;
    // Once more against the caller's own strides, which the canonical form has nothing to do with.
    std::int64_t wrong = 0;
    Numbers at(c.extents.size(), 0);
    for (std::int64_t i = 0; i < c.elements(); ++i) {
      std::int64_t from = 0, to = 0;
      for (std::size_t k = 0; k < at.size(); ++k) from += at[k] * c.src[k], to += at[k] * c.dst[k];
      wrong += std::memcmp(recorder.real(c.src_at(in)) + from * c.elem, recorder.real(c.dst_at(out)) + to * c.elem,
                           std::size_t(c.elem)) != 0;
      for (std::size_t k = 0; k < at.size() && ++at[k] == c.extents[k]; ++k) at[k] = 0;
    }
    EXPECT_EQ(wrong, 0) << "elements";
    if (testing::Test::HasFailure()) return;
  }
}

class HardCopies : public testing::TestWithParam<int> {};
TEST_P(HardCopies, AreRightByEveryKernel) {
  Copied const c = hard_cases()[std::size_t(GetParam())];
  replay_all(c);
}
INSTANTIATE_TEST_SUITE_P(Replayed, HardCopies, testing::Range(0, int(hard_cases().size())), [](auto const& info) {
  std::string name = hard_cases()[std::size_t(info.param)].name;
  for (char& ch : name)
    if (!std::isalnum(static_cast<unsigned char>(ch))) ch = '_';
  return name;
});

TEST(RandomCopies, AreRightByEveryKernel) {
  std::mt19937 rng(18);
  taken.clear();
  int const share = runs_long_tests() ? 1 : 3;
  for (int i = 0; i < 300 / share && !HasFailure(); ++i) replay_all(random_copy(rng, 3000));
  // A candidate that takes fewer cases is not tested by them.
  std::map<std::string, int> const fewest = {
      {"copy_deinterleave", 0},    {"copy_interleave", 0},  {"transpose_batched", 1}, {"transpose_registers", 4},
      {"transpose_realigned", 20}, {"copy_contiguous", 20}, {"copy_small_tile", 60}};
  for (Candidate<Copy> const& row : candidates<Copy>()) {
    auto const few = fewest.find(row.kernel->name);
    EXPECT_GE(taken[row.kernel->name], (few == fewest.end() ? 200 : few->second) / share) << row.kernel->name;
  }
}
// Every candidate takes at least four of the hard cases. A candidate that takes fewer is not tested by them.
TEST(HardCases, AreTakenByEveryCandidate) {
  std::map<std::string, int> takes;
  for (Copied const& c : hard_cases()) {
    if (c.elements() == 0) continue;
    Copy const copy = c.copy(reinterpret_cast<void const*>(1ull << 40), reinterpret_cast<void*>(1ull << 41));
    for (Candidate<Copy> const& row : candidates<Copy>())
      takes[row.kernel->name] += !row.kernel->rejects(copy, Device{});
  }
  for (Candidate<Copy> const& row : candidates<Copy>()) {
    std::cout << row.kernel->name << " " << takes[row.kernel->name] << "\n";
    EXPECT_GE(takes[row.kernel->name], 4) << row.kernel->name;
  }
}

// ---- the planner

Copy somewhere(Copied const& c) {
  return c.copy(reinterpret_cast<void const*>(1ull << 40), reinterpret_cast<void*>(1ull << 41));
}

TEST(PlanOfACopy, ChoosesTheFastestThatIsPredicted) {
  for (Copied const& c : hard_cases()) {
    if (c.elements() == 0) continue;
    SCOPED_TRACE(c.text());
    Copy const copy = somewhere(c);
    auto const plan = make_plan(copy, Device{}, false);
    ASSERT_GE(plan.candidate, 0);
    EXPECT_GT(plan.seconds, 0);
    for (Candidate<Copy> const& row : candidates<Copy>()) {
      auto const a = planner::attempt_in_chunks(row, copy, Device{}, false);
      if (a.rejected) continue;
      EXPECT_LE(plan.seconds, 1.05 * a.plan.seconds) << row.kernel->name;
    }
  }
}
TEST(PlanOfACopy, SaysWhatEachCandidateWouldTake) {
  Copy const copy = somewhere(permuted("", 2, {128, 32, 2048}, {2, 0, 1}));
  std::string const text = why(make_plan(copy, Device{}, false), copy, Device{}, false);
  EXPECT_NE(text.find("us predicted"), std::string::npos) << text;
  EXPECT_NE(text.find("tiles of mode 0: "), std::string::npos) << text;
  EXPECT_NE(text.find("; slower"), std::string::npos) << text;
}

// A plan is made at one destination and launched 16 bytes further. The tile then needs more shared memory than a block
// has: the launch must throw instead of writing past it.
TEST(PlanOfACopy, NeverLaunchesATileThatDoesNotFit) {
  Copied const c = permuted("", 1, {4112, 5, 7, 256}, {3, 1, 0, 2});
  int refused = 0;
  for (Candidate<Copy> const& row : candidates<Copy>()) {
    if (!row.kernel->limits) continue;
    Recorder recorder;
    void const* const in = recorder.reserve("in", c.src_bytes(), 1);
    void* const out = recorder.reserve("out", c.dst_bytes() + 32, 1);
    auto const attempt = planner::attempt_in_chunks(row, c.copy(in, out), Device{}, false);
    ASSERT_FALSE(attempt.rejected);
    Copy const planned = attempt.plan.find<Copy>()->problem;
    Config const config = attempt.plan.find<Copy>()->config;
    auto const at = [&](int bytes) { return planned.between(planned.src, static_cast<char*>(planned.dst) + bytes); };
    EXPECT_FALSE(row.kernel->rejects(at(32), Device{}, config));
    model::Reason const reason = row.kernel->rejects(at(16), Device{}, config);
    if (!reason) continue;
    ++refused;
    try {
      entry_of(row.kernel)->sample(at(16), Device{}, recorder, config);
      ADD_FAILURE() << row.kernel->name << " was launched";
    } catch (Error const& e) {
      EXPECT_EQ(e.what(), reason.sentence());
    }
  }
  EXPECT_GE(refused, 1);
}
// describe_tile indexes arrays with these numbers of a tiling.
TEST(PlanOfACopy, RefusesTilingsWhoseModesAreOutOfRange) {
  Copy const copy = somewhere(permuted("", 1, {640, 320}, {1, 0}));
  auto const refusal = [&](int modes, int run_modes, int mode) {
    Tiling tiling;
    tiling.modes = modes, tiling.run_modes = run_modes;
    for (Tiling::TiledMode& tiled : tiling.tiled) tiled = {mode, 32};
    kernels::CopyTile tile;
    return kernels::describe_tile(copy, tiling, 128, tile).sentence();
  };
  EXPECT_EQ(refusal(1, 1, 0), "");
  EXPECT_EQ(refusal(1, 1, 2), "the tiling names mode 2 of a copy with 2 modes");
  EXPECT_EQ(refusal(1, 1, -1), "the tiling names mode -1 of a copy with 2 modes");
  EXPECT_EQ(refusal(1, 0, 0), "a destination run has 0 of the 1 tiled modes");
  EXPECT_EQ(refusal(1, 2, 0), "a destination run has 2 of the 1 tiled modes");
  EXPECT_EQ(refusal(-1, 1, 0), "the tiling has -1 modes, at most 14 are supported");
  EXPECT_EQ(refusal(15, 1, 0), "the tiling has 15 modes, at most 14 are supported");
}
TEST(PlanOfACopy, RefusesTilesThatAreLargerThanTheCopy) {
  Copy const copy = somewhere(permuted("", 1, {640, 320}, {1, 0}));
  kernels::CopyTile tile;
  for (Tiling::TiledMode piece : {Tiling::TiledMode{0, 321}, {0, 0}, {2, 1}}) {
    Tiling tiling;
    tiling.modes = tiling.run_modes = 1, tiling.tiled[0] = piece;
    EXPECT_TRUE(kernels::describe_tile(copy, tiling, 128, tile)) << piece.mode << " " << piece.extent;
  }
}

// ---- tiles

// The fastest cut for small tiles, and the tile that it gives.
struct Tiled {
  Copy copy;
  Tiling tiling;
  kernels::CopyTile tile;

  explicit Tiled(Copied const& c)
      : copy(somewhere(c).widened()),
        tiling(kernels::best_tiling(copy, *kernels::copy_tiled_16k::kernel.limits, Device{}).tiling) {
    make();
  }
  void make() {
    auto const reason = kernels::describe_tile(copy, tiling, kernels::copy_tiled_16k::kernel.limits->threads, tile);
    EXPECT_FALSE(reason) << reason.sentence();
  }
  int wavefronts() const { return tile.load_wavefronts(copy.elem_bytes); }
};
TEST(Tiles, RowsThatFollowOneAnotherArePaddedApart) {
  Tiled c(permuted("", 2, {64, 3136, 4}, {1, 0, 2}));
  EXPECT_EQ(c.tiling.padding, Tiling::Padding::odd_pitch);
  int const padded = c.wavefronts();
  c.tiling.padding = Tiling::Padding::none;
  c.make();
  EXPECT_LE(2 * padded, c.wavefronts());
}
// A window over lines that each begin elsewhere within a word would have a word more than the lanes are cut for.
TEST(Tiles, LinesThatAreCutAreCountedByTheirOwnWords) {
  for (auto const& [elem, side] : {std::pair{1, 513}, {2, 2111}, {8, 12}}) {
    kernels::CopyTile const tile = Tiled(permuted("", elem, {side, 50001}, {1, 0})).tile;
    EXPECT_GT(tile.skew, 0) << elem;
    EXPECT_EQ(tile.run_words * kernels::CopyTile::elements_per_store(elem), tile.run_elements) << elem;
    EXPECT_EQ(tile.run_words % 32, 0) << elem;
  }
}
// Runs of 12 and of 24 bytes, which share no sector with the next ones: other modes fill the tile.
TEST(Tiles, ShortRunsFillATile) {
  kernels::CopyTile const tile =
      Tiled({"", 3, {8, 7, 7, 351, 4, 23}, {140, 9041760, 20, 1120, 1, 393120}, {1, 24, 168, 1176, 412776, 1651104}})
          .tile;
  EXPECT_GE(tile.run_elements * tile.dst_runs, 1000);
}
TEST(Tiles, MatricesOfABatchAreTakenByWholeWords) {
  EXPECT_EQ(Tiled(permuted("", 1, {17, 17, 2000}, {1, 0, 2})).tiling.tiled[2].extent % 4, 0);
  EXPECT_EQ(Tiled(permuted("", 2, {13, 7, 2000}, {1, 0, 2})).tiling.tiled[2].extent % 2, 0);
}

// ---- units
TEST(Units, AreThePowerOfTwoInAnElement) {
  for (auto const& [elem, unit] : {std::pair{1, 1}, {2, 2}, {3, 1}, {4, 4}, {5, 1}, {6, 2}, {12, 4}, {16, 16}})
    EXPECT_EQ(somewhere(permuted("", elem, {7, 5}, {1, 0})).elem_bytes, unit) << elem;
}
// What a widened copy says of itself is in its own units.
TEST(Units, CountEverythingOnceTheyAreWidened) {
  Copy const wide = somewhere(permuted("", 2, {64, 7, 33}, {0, 2, 1})).widened();
  EXPECT_EQ(wide.elem_bytes, 16);
  ASSERT_TRUE(wide.as_copy());
  EXPECT_EQ(wide.as_copy()->N, 8);
  EXPECT_EQ(wide.as_copy()->ld_in, 64 * 7 * 2 / 16);
}
TEST(Units, AreAsWideAsAlignmentAllows) {
  auto const wide = [](Copied const& c) { return somewhere(c).widened().elem_bytes; };
  EXPECT_EQ(wide(permuted("", 2, {64, 7, 33}, {0, 2, 1})), 16);
  EXPECT_EQ(wide(permuted("", 2, {4, 7, 33}, {0, 2, 1})), 8);
  EXPECT_EQ(wide(permuted("", 1, {6, 7, 33}, {0, 2, 1})), 2);
  EXPECT_EQ(wide(permuted("", 12, {7, 33}, {1, 0})), 4);  // 12 bytes are three words
  EXPECT_EQ(wide(permuted("", 2, {64, 7, 33}, {0, 2, 1}, 8, 0)), 8);
  EXPECT_EQ(wide(permuted("", 2, {64, 7, 33}, {0, 2, 1}, 0, 2)), 2);
  EXPECT_EQ(wide(permuted("", 2, {64, 7}, {1, 0})), 2);  // nothing is contiguous on both sides
}

}  // namespace
}  // namespace inlay::test
