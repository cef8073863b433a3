// The planner of gemm: what it picks, what it packs, and what it says. No GPU.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "gemm_variants.h"
#include "plan/gemm_plan.h"

namespace inlay::test {
namespace {

constexpr std::uint64_t kA = 1ull << 40, kB = 1ull << 41, kC = 1ull << 42;

// L matrices in one piece; letters as in the tables of results: nn, nt, tn, tt. `gap` widens A's rows.
Gemm problem(std::int64_t M, std::int64_t N, std::int64_t K, std::string const& letters = "nn", std::int64_t L = 1,
             std::int64_t gap = 0, std::uint64_t base_a = kA) {
  auto const operand = [L](std::uint64_t base, std::int64_t rows, std::int64_t cols, bool transposed,
                           std::int64_t gap = 0) {
    Tensor t;
    t.data = reinterpret_cast<void*>(base), t.dtype = f32, t.rank = 3;
    t.extent[0] = L, t.extent[1] = transposed ? cols : rows, t.extent[2] = transposed ? rows : cols;
    t.stride[2] = 1, t.stride[1] = t.extent[2] + gap, t.stride[0] = t.extent[1] * t.stride[1];
    return transposed ? t.transposed() : t;
  };
  return make_gemm(1, operand(base_a, M, K, letters[0] == 't', gap), operand(kB, K, N, letters[1] == 't'), 0,
                   operand(kC, M, N, false), Accuracy::one_level);
}

// A variant that notes what it is asked to run.
Gemm ran;
void* ran_in = nullptr;
void note(Gemm const& g, Device const&, void* workspace, cudaStream_t) { ran = g, ran_in = workspace; }
Reason takes_all(Gemm const&, Device const&) { return {}; }
Reason takes_none(Gemm const& g, Device const&) { return {"{} rows are not to its taste", {g.M}}; }
std::size_t sixteen_each(Gemm const& g, Device const&) { return std::size_t(16 * g.L); }
Info<Gemm> const own_workspace{"own_workspace", "Wants room.", "", takes_all, nullptr, sixteen_each};
Info<Gemm> const nothing{"nothing", "Wants nothing.", "", takes_all, nullptr, no_workspace};
Info<Gemm> const refuses{"refuses", "Takes nothing.", "", takes_none, nullptr, no_workspace};
bool any(Gemm const&, Device const&) { return true; }
bool never(Gemm const&, Device const&) { return false; }

std::string chosen(GemmPlan const& plan) { return plan.chosen ? plan.chosen->info->name : ""; }
#define EXPECT_SAYS(plan, sentence) \
  EXPECT_NE((plan).why(Device{}).find(sentence), std::string::npos) << (plan).why(Device{})

// ---- the choice
TEST(GemmPlan, EveryProblemHasAnAnswerThatNeedsNoWorkspace) {
  for (std::string letters : {"nn", "nt", "tn", "tt"})
    for (std::int64_t n : {1, 2, 31, 128, 1000, 4096})
      for (bool may : {false, true}) {
        GemmPlan const plan = plan_gemm(problem(n, n + 1, n + 2, letters, 3), Device{}, may);
        EXPECT_NE(plan.chosen, nullptr);
        EXPECT_TRUE(may || plan.workspace_bytes == 0);
      }
}
TEST(GemmPlan, AnEmptyCNeedsNone) {
  GemmPlan const plan = plan_gemm(problem(0, 5, 7), Device{}, true);
  EXPECT_EQ(plan.chosen, nullptr);
  EXPECT_EQ(plan.workspace_bytes, 0u);
  EXPECT_EQ(plan.why(Device{}), "gemm with an empty C: nothing is launched\n");
  run(plan, Device{}, nullptr, nullptr);
}
TEST(GemmPlan, TakesTheFirstThatIsWantedAndRuns) {
  GemmPreference const all[] = {{{&own_workspace, note}, never, "never wanted"},
                                {{&refuses, note}, any, ""},
                                {{&nothing, note}, any, ""},
                                {{&own_workspace, note}, any, ""}};
  GemmPlan const plan = plan_gemm(problem(3, 5, 7), Device{}, true, all);
  EXPECT_EQ(plan.chosen, &all[2].variant);
  EXPECT_SAYS(plan, "     own_workspace: 16 bytes of workspace; never wanted\n");
  EXPECT_SAYS(plan, "     refuses: 3 rows are not to its taste\n");
  EXPECT_SAYS(plan, "  -> nothing: 0 bytes of workspace\n");
  EXPECT_SAYS(plan, "     own_workspace: 16 bytes of workspace; comes later\n");
}
TEST(GemmPlan, TakesWhatIsNotWantedWhereNothingElseRuns) {
  GemmPreference const all[] = {{{&nothing, note}, never, "never wanted"}, {{&refuses, note}, any, ""}};
  EXPECT_EQ(chosen(plan_gemm(problem(3, 5, 7), Device{}, false, all)), "nothing");
}
TEST(GemmPlan, NobodyCanAndSaysSo) {
  GemmPreference const all[] = {{{&refuses, note}, any, ""}};
  GemmPlan const plan = plan_gemm(problem(3, 5, 7), Device{}, true, all);
  EXPECT_EQ(plan.chosen, nullptr);
  EXPECT_SAYS(plan, "no variant can run it\n     refuses: 3 rows are not to its taste\n");
}
// The same bits for every batch count: from where a K may be cut on, the choice does not depend on it.
TEST(GemmPlan, OneMatrixDecides) {
  for (char const* letters : {"nn", "nt", "tn", "tt"})
    for (std::int64_t K : {257, 512, 1000, 8192})
      for (std::int64_t n : {8, 64, 100, 500, 1024, 1500, 4096})
        for (bool workspace : {false, true})
          EXPECT_EQ(chosen(plan_gemm(problem(n, n, K, letters, 1), Device{}, workspace)),
                    chosen(plan_gemm(problem(n, n, K, letters, 64), Device{}, workspace)))
              << n << " x " << n << " x " << K << " " << letters;
}

TEST(GemmPlan, SmallProductsTakeSmallTiles) {
  struct {
    std::int64_t n, K, L;
    bool small;
  } const cases[] = {{8, 8, 1, true},       {64, 64, 1, true},     {256, 256, 1, true},   {768, 256, 1, true},
                     {1024, 256, 1, false}, {128, 128, 32, true},  {256, 256, 32, false}, {256, 512, 1, true},
                     {256, 512, 64, true},  {256, 1024, 1, false}, {128, 2048, 64, true}, {512, 512, 1, false},
                     {64, 65536, 1, false}};
  for (auto const& [n, K, L, small] : cases)
    EXPECT_EQ(chosen(plan_gemm(problem(n, n, K, "nn", L), Device{}, true)) == "sgemm_19_small_tiles", small)
        << n << " x " << n << " x " << K << " x " << L;
}

// Up to a K of 256 the batch may decide, between variants that form a sum in one chain.
TEST(GemmPlan, ShallowProductsAreOneChain) {
  std::set<std::string> const one_chain = {"sgemm_01_naive",   "sgemm_08_swizzled",   "sgemm_09_thread_tile",
                                           "sgemm_11_rotated", "sgemm_13_turned",     "sgemm_16_split_k",
                                           "sgemm_17_narrow",  "sgemm_19_small_tiles"};
  for (char const* letters : {"nn", "nt", "tn", "tt"})
    for (std::int64_t K : {1, 33, 128, 256})
      for (std::int64_t n : {8, 64, 101, 256, 1024})
        for (std::int64_t L : {1, 64, 1000})
          for (bool workspace : {false, true}) {
            std::string const name = chosen(plan_gemm(problem(n, n, K, letters, L), Device{}, workspace));
            EXPECT_TRUE(one_chain.contains(name))
                << name << ", " << n << " x " << n << " x " << K << " x " << L << " " << letters;
          }
}

// ---- the workspace
TEST(GemmPlan, WithoutAWorkspaceOnlyVariantsThatWantNone) {
  GemmPreference const all[] = {{{&own_workspace, note}, any, ""},
                                {{&nothing, note}, any, "", Lies::along_mn},
                                {{&nothing, note}, any, "", Lies::anywhere, Lies::along_mn},
                                {{&nothing, note}, any, ""}};
  GemmPlan const plan = plan_gemm(problem(64, 64, 64, "nt"), Device{}, false, all);
  EXPECT_EQ(plan.chosen, &all[3].variant);
  EXPECT_EQ(plan.workspace_bytes, 0u);
  EXPECT_SAYS(plan, "own_workspace: it wants a workspace of 16 bytes, and there is none");
  EXPECT_SAYS(plan, "nothing: A would have to be packed, for which there is no workspace");
  EXPECT_SAYS(plan, "nothing: B would have to be packed, for which there is no workspace");
  EXPECT_SAYS(plan, "workspace: 0 bytes (none was offered)");
  EXPECT_EQ(plan_gemm(problem(64, 64, 64, "tn"), Device{}, false, all).chosen, &all[1].variant);  // nothing to pack
}
TEST(GemmPlan, PackedOperandsLieOneBehindTheOther) {
  GemmPreference const all[] = {{{&own_workspace, note}, any, "", Lies::along_mn, Lies::along_mn}};
  GemmPlan const plan = plan_gemm(problem(65, 30, 9, "nt", 3), Device{}, true, all);
  ASSERT_TRUE(plan.chosen && plan.pack_a.chosen && plan.pack_b.chosen);
  std::size_t const a = 3 * 9 * 68 * 4, b = 3 * 9 * 32 * 4;  // 7344 and 3456 bytes, rows of whole vectors
  EXPECT_EQ(plan.offset_a, 0u);
  EXPECT_EQ(plan.offset_b, (a + 255) / 256 * 256);
  EXPECT_EQ(plan.offset_own, plan.offset_b + (b + 255) / 256 * 256);
  EXPECT_EQ(plan.workspace_bytes, plan.offset_own + 48);
  EXPECT_EQ(plan.packed.a_m, 1);
  EXPECT_EQ(plan.packed.a_k, 68);
  EXPECT_EQ(plan.packed.a_l, 9 * 68);
  EXPECT_EQ(plan.packed.b_n, 1);
  EXPECT_EQ(plan.packed.b_k, 32);
  EXPECT_EQ(plan.packed.b_l, 9 * 32);
  EXPECT_EQ(plan.packed.C, plan.gemm.C);
  // The moves: 3 matrices, contiguous along k in the operand and along m or n in the workspace.
  auto const move = as_transpose(plan.pack_a.move);
  ASSERT_TRUE(move);
  EXPECT_EQ(move->in, plan.gemm.A);
  EXPECT_EQ(move->M, 65);
  EXPECT_EQ(move->N, 9);
  EXPECT_EQ(move->L, 3);
  EXPECT_EQ(move->ld_out, 68);
  EXPECT_EQ(plan.pack_a.move.dst, reinterpret_cast<void*>(GemmPlan::kPresumed));
  EXPECT_EQ(plan.pack_b.move.dst, reinterpret_cast<void*>(GemmPlan::kPresumed + plan.offset_b));
  EXPECT_EQ(plan.packed.A, plan.pack_a.move.dst);
  EXPECT_EQ(plan.packed.B, plan.pack_b.move.dst);
  EXPECT_SAYS(plan, "  A is packed by transpose_17_few_columns: it is contiguous along k\n");
  EXPECT_SAYS(plan, "workspace: 11056 bytes\n");
}
TEST(GemmPlan, AMatrixThatTheBatchSharesIsPackedOnce) {
  GemmPreference const all[] = {{{&nothing, note}, any, "", Lies::along_mn}};
  Gemm g = problem(64, 64, 16, "nn", 100);
  g.a_l = 0;
  GemmPlan const plan = plan_gemm(g, Device{}, true, all);
  ASSERT_TRUE(plan.pack_a.chosen);
  EXPECT_EQ(plan.pack_a.move.elements(), 64 * 16);
  EXPECT_EQ(plan.packed.a_l, 0);
  EXPECT_EQ(plan.workspace_bytes, 64u * 16 * 4);
}
TEST(GemmPlan, WhatLiesAsWantedIsNotPacked) {
  GemmPreference const along[] = {{{&nothing, note}, any, "", Lies::along_mn, Lies::along_mn}};
  GemmPreference const aligned[] = {{{&nothing, note}, any, "", Lies::aligned, Lies::aligned}};
  auto const bytes = [](Gemm const& g, auto const& preferences) {
    return plan_gemm(g, Device{}, true, preferences).workspace_bytes;
  };
  EXPECT_EQ(bytes(problem(64, 32, 16, "tn"), along), 0u);
  EXPECT_EQ(bytes(problem(64, 32, 16, "nn"), along), 64u * 16 * 4);
  EXPECT_EQ(bytes(problem(64, 32, 16, "tt"), along), 32u * 16 * 4);
  EXPECT_EQ(bytes(problem(64, 32, 16, "nt"), aligned), 0u);
  Gemm nothing_to_read = problem(64, 32, 16, "nt");
  nothing_to_read.K = 0, nothing_to_read.A = nothing_to_read.B = nullptr;
  EXPECT_EQ(bytes(nothing_to_read, along), 0u);
}
TEST(GemmPlan, SaysWhyAnOperandIsPacked) {
  GemmPreference const all[] = {{{&nothing, note}, any, "", Lies::aligned}};
  auto const why = [&](Gemm const& g) { return plan_gemm(g, Device{}, true, all).why(Device{}); };
  auto const expect = [&](Gemm const& g, std::string const& reason) {
    EXPECT_NE(why(g).find(": " + reason + "\n"), std::string::npos) << why(g);
  };
  expect(problem(64, 64, 64, "nn", 1, 3), "its rows are 67 elements apart, which is no multiple of 4");
  expect(problem(64, 64, 64, "nn", 1, 0, kA + 12), "it begins 12 bytes past a multiple of 16");
  Gemm g = problem(64, 64, 64, "nn", 2);
  g.a_l = 5001;
  expect(g, "its matrices are 5001 elements apart, which is no multiple of 4");
  g.a_l = -5000;
  expect(g, "its matrices are -5000 elements apart");
  g.a_l = 5000, g.a_m = -64;
  expect(g, "its rows of 64 elements are -64 apart");
  g.a_m = 0;
  expect(g, "its rows of 64 elements are 0 apart");
}
TEST(GemmPlan, WhatNoMoveCanPackIsLeftToOthers) {
  GemmPreference const all[] = {{{&nothing, note}, any, "", Lies::along_mn}, {{&own_workspace, note}, any, ""}};
  Gemm g = problem(64, 64, 64, "nn", 2);
  g.a_m = 200, g.a_k = 3, g.a_l = 20000;
  GemmPlan const plan = plan_gemm(g, Device{}, true, all);
  EXPECT_EQ(chosen(plan), "own_workspace");
  EXPECT_SAYS(plan, "nothing: no variant of move can pack A");
  EXPECT_SAYS(plan, "A: strides of 200 along m and 3 along k");
  EXPECT_FALSE(plan.pack_a.chosen);
  EXPECT_EQ(plan.workspace_bytes, 32u);
}
TEST(GemmPlan, WhatWouldNotFitTheDeviceIsNotPacked) {
  GemmPreference const all[] = {{{&nothing, note}, any, "", Lies::along_mn}, {{&own_workspace, note}, any, ""}};
  Gemm g = problem(64, 64, 64, "nn");
  g.M = std::int64_t(1) << 40, g.a_m = 0, g.a_k = 3, g.c_m = 64;  // one row of A, again and again
  for (std::int64_t K : {std::int64_t(64), std::int64_t(1) << 40}) {
    g.K = K;
    GemmPlan const plan = plan_gemm(g, Device{}, true, all);
    EXPECT_EQ(chosen(plan), "own_workspace");
    EXPECT_SAYS(plan, "nothing: its packed operands would not fit the device's memory");
  }
}

// ---- running it: what a GPU would do for packed operands, tests/test_gemm_gpu.cpp sees
TEST(GemmPlan, RunsWhatWasPlanned) {
  GemmPreference const all[] = {{{&own_workspace, note}, any, ""}};
  GemmPlan const plan = plan_gemm(problem(3, 5, 7, "nt"), Device{}, true, all);
  int workspace = 0;
  ran = {}, ran_in = nullptr;
  run(plan, Device{}, &workspace, nullptr);
  EXPECT_EQ(ran_in, &workspace);
  EXPECT_EQ(ran.A, plan.gemm.A);
  EXPECT_EQ(ran.B, plan.gemm.B);
  EXPECT_EQ(ran.M, 3);
}

TEST(GemmPlan, SaysWhy) {
  std::string const why = plan_gemm(problem(100, 200, 30, "nt", 2, 2), Device{}, false).why(Device{});
  EXPECT_EQ(
      why.find("gemm of M 100 x N 200 x K 30, batch of 2, nt, alpha 1, beta 0, one level on NVIDIA H200\n"
               "  A: contiguous along k, rows 32 elements apart, matrices 3200, begins at a multiple of 16 bytes\n"
               "  B: contiguous along k, rows 30 elements apart, matrices 6000, begins at a multiple of 16 bytes\n"
               "  C: contiguous along n, rows 200 elements apart, matrices 20000, begins at a multiple of 16 bytes\n"
               "chosen: "),
      0u)
      << why;
  EXPECT_NE(why.find("sgemm_01_naive: "), std::string::npos) << why;
  Gemm scaled = problem(100, 200, 0);
  EXPECT_SAYS(plan_gemm(scaled, Device{}, true), "  A and B are not read\n");
  scaled.c_m = 400, scaled.c_n = 2;
  EXPECT_SAYS(plan_gemm(scaled, Device{}, true), "  C: strides of 400 along m and 2 along n\n");
}

}  // namespace
}  // namespace inlay::test
