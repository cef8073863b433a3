// The planner of gemm: what it picks, what it packs, and what it says. No GPU.
#include <gtest/gtest.h>
#include <inlay/kernels/gemm/fma/sgemm_cluster.h>
#include <inlay/kernels/gemm/fma/sgemm_narrow.h>
#include <inlay/kernels/gemm/fma/sgemm_simple.h>
#include <inlay/kernels/gemm/fma/sgemm_split_32x32.h>
#include <inlay/kernels/gemm/fma/sgemm_split_64x64.h>
#include <inlay/kernels/gemm/fma/sgemm_tile_128x128.h>
#include <inlay/kernels/gemm/fma/sgemm_tile_128x256.h>
#include <inlay/kernels/gemm/fma/sgemm_tile_blocked.h>
#include <inlay/kernels/gemm/fma/sgemm_tma_transposing.h>
#include <inlay/kernels/kernel_list.h>
#include <inlay/model/half_slices.h>
#include <inlay/planner/long_sums.h>
#include <inlay/problem/batched_gemm.h>
#include "only_run.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <set>
#include <string>
#include <vector>

namespace inlay::test {
namespace {
using namespace planner;

constexpr std::uint64_t kA = 1ull << 40, kB = 1ull << 41, kC = 1ull << 42;

// L matrices in one piece; transposes as in the tables of results: nn, nt, tn, tt. `gap` widens A's rows.
Gemm problem(std::int64_t M, std::int64_t N, std::int64_t K, std::string const& transposes = "nn", std::int64_t L = 1,
             std::int64_t gap = 0, std::uint64_t base_a = kA) {
  auto const operand = [L](std::uint64_t base, std::int64_t rows, std::int64_t cols, bool transposed,
                           std::int64_t gap = 0) {
    Tensor t;
    t.data = reinterpret_cast<void*>(base), t.dtype = f32, t.rank = 3;
    t.extent[0] = L, t.extent[1] = transposed ? cols : rows, t.extent[2] = transposed ? rows : cols;
    t.stride[2] = 1, t.stride[1] = t.extent[2] + gap, t.stride[0] = t.extent[1] * t.stride[1];
    return transposed ? t.transposed() : t;
  };
  return make_gemm(operand(base_a, M, K, transposes[0] == 't', gap), operand(kB, K, N, transposes[1] == 't'),
                   operand(kC, M, N, false), {}, Compute::fp32);
}

// Kernels that note what they are asked to run.
Gemm ran;
void* ran_in = nullptr;
void note(Gemm const& g, Device const&, void* workspace, cudaStream_t) { ran = g, ran_in = workspace; }
Reason takes_all(Gemm const&, Device const&) { return {}; }
Reason takes_none(Gemm const& g, Device const&) { return {"{} rows are not to its taste", {g.M()}}; }
std::size_t sixteen_each(Gemm const& g, Device const&) { return std::size_t(16 * g.L()); }
constexpr Info<Gemm> info_of(char const* name, char const* idea) {
  return {.name = name,
          .idea = idea,
          .source = "a test",
          .ladder = Ladder::none,
          .origin = Origin::ours,
          .rejects = takes_all,
          .seconds = [](Gemm const&, Device const&) { return 2e-6; },
          .run = note};
}
Info<Gemm> const nothing = info_of("nothing", "Wants nothing."),
                 refuses =
                     [] {
                       Info<Gemm> info = info_of("refuses", "Takes nothing.");
                       info.rejects = takes_none;
                       return info;
                     }(),
                 slow_thin =
                     [] {
                       Info<Gemm> info = info_of("slow_thin", "Takes longer.");
                       info.workspace = sixteen_each;
                       info.seconds = [](Gemm const&, Device const&) { return 3e-6; };
                       return info;
                     }(),
                 split_64x64 =
                     [] {
                       Info<Gemm> info = kernels::sgemm_split_64x64::kernel;
                       info.run = note;
                       return info;
                     }(),
                 own_workspace = [] {
                   Info<Gemm> info = info_of("own_workspace", "Wants module.");
                   info.workspace = sixteen_each;
                   return info;
                 }();

using Rows = std::span<Candidate<Gemm> const>;
using planner::Layout;

// A problem with its plan.
struct Planned {
  Gemm gemm;
  WorkspaceLimit limit;
  Rows rows;
  Plan plan = make_plan(gemm, Device{}, limit, rows);

  Planned(Gemm const& gemm, WorkspaceLimit limit, Rows rows = candidates<Gemm>())
      : gemm(gemm), limit(limit), rows(rows) {}

  std::string why() const { return planner::why(plan, gemm, Device{}, limit, rows); }
  // The name of what answers; empty: nobody can.
  std::string chosen() const { return plan.candidate < 0 ? "" : rows[std::size_t(plan.candidate)].kernel->name; }
  LaunchOf<Gemm> const& launch() const { return *plan.find<Gemm>(); }
};
std::string chosen(Gemm const& gemm, WorkspaceLimit limit, Rows rows = candidates<Gemm>()) {
  return Planned(gemm, limit, rows).chosen();
}
// Where an operand of a step lies.
void expect_operand(OperandSlot const& place, int operand, std::int64_t offset = 0) {
  EXPECT_EQ(place.in, OperandSlot::In::operand);
  EXPECT_EQ(place.operand, operand);
  EXPECT_EQ(place.offset, offset);
}
void expect_workspace(OperandSlot const& place, std::size_t offset) {
  EXPECT_EQ(place.in, OperandSlot::In::workspace);
  EXPECT_EQ(place.offset, std::int64_t(offset));
}
void* presumed(std::size_t offset) { return static_cast<char*>(symbolic(kWorkspaceRegion, nullptr)) + offset; }
#define EXPECT_SAYS(planned, sentence) EXPECT_NE((planned).why().find(sentence), std::string::npos) << (planned).why()

// ---- the choice
TEST(GemmPlan, EveryProblemHasAnAnswerThatNeedsNoWorkspace) {
  for (std::string transposes : {"nn", "nt", "tn", "tt"})
    for (std::int64_t n : {1, 2, 31, 128, 1000, 4096})
      for (bool may : {false, true}) {
        Planned const p(problem(n, n + 1, n + 2, transposes, 3), may);
        EXPECT_NE(p.chosen(), "");
        ASSERT_GE(p.plan.num_launches, 1);
        EXPECT_EQ(p.launch().kernel, p.rows[std::size_t(p.plan.candidate)].kernel);
        EXPECT_TRUE(may || (p.plan.workspace_bytes == 0 && p.plan.num_launches == 1));
      }
}
TEST(GemmPlan, AnEmptyCNeedsNone) {
  Planned const p(problem(0, 5, 7), true);
  EXPECT_EQ(p.chosen(), "");
  EXPECT_EQ(p.plan.num_launches, 0);
  EXPECT_EQ(p.plan.candidate, -1);
  EXPECT_EQ(p.plan.workspace_bytes, 0u);
  EXPECT_EQ(p.why(), "gemm with an empty D: nothing is launched\n");
  run(p.plan, Device{}, {}, nullptr);
}
TEST(GemmPlan, TakesTheFirstOfEquallyFastOnesThatApplyAndAccept) {
  Candidate<Gemm> const all[] = {{.kernel = &slow_thin, .sums = Sums::thin},
                                 {.kernel = &refuses},
                                 {.kernel = &nothing},
                                 {.label = "unpacked", .kernel = &own_workspace}};
  Planned const p(problem(3, 5, 7), true, all);
  EXPECT_EQ(p.plan.candidate, 2);
  EXPECT_EQ(p.launch().kernel, all[2].kernel);
  EXPECT_SAYS(p, "chosen: nothing. Wants nothing.\n");
  EXPECT_SAYS(p, "     slow_thin: predicted 3.00 us, 16 bytes of workspace; not compared: another order of sums");
  EXPECT_SAYS(p, "     refuses: 3 rows are not to its taste\n");
  EXPECT_SAYS(p, "  -> nothing: predicted 2.00 us, 0 bytes of workspace\n");
  EXPECT_SAYS(p, "     own_workspace (unpacked): predicted 2.00 us, 16 bytes of workspace; as fast\n");
}
TEST(GemmPlan, TakesOneThatDoesNotApplyIfNoOtherAccepts) {
  Info<Gemm> picky = info_of("picky", "Wants an aligned A.");
  picky.rejects = [](Gemm const& g, Device const&) {
    return reinterpret_cast<std::uintptr_t>(g.A.base) % 256 ? Reason{"A is not to its taste"} : Reason{};
  };
  Candidate<Gemm> const all[] = {{.kernel = &slow_thin, .sums = Sums::thin}, {.kernel = &picky}};
  Gemm g = problem(3, 5, 7);
  EXPECT_EQ(chosen(g, true, all), "picky");
  g.A.base = static_cast<char*>(g.A.base) + 16;
  EXPECT_EQ(chosen(g, true, all), "slow_thin");
}
TEST(GemmPlan, SaysWhyEachCandidateRejects) {
  Candidate<Gemm> const all[] = {{.kernel = &refuses}};
  Planned const p(problem(3, 5, 7), true, all);
  EXPECT_EQ(p.plan.candidate, -1);
  EXPECT_EQ(p.plan.num_launches, 0);
  EXPECT_SAYS(p, "no kernel can run it\n     refuses: 3 rows are not to its taste\n");
}
// The same bits for every batch count: from where a K may be cut on, only kernels that add in one order, or in the
// slices of a single matrix, take each other's place.
TEST(GemmPlan, OneMatrixDecides) {
  for (char const* transposes : {"nn", "nt", "tn", "tt"})
    for (std::int64_t K : {257, 512, 1000, 8192})
      for (std::int64_t n : {8, 64, 100, 500, 1024, 1500, 4096})
        for (bool workspace : {false, true}) {
          SCOPED_TRACE(std::to_string(n) + " x " + std::to_string(n) + " x " + std::to_string(K) + " " + transposes);
          Planned const one(problem(n, n, K, transposes, 1), workspace),
              batch(problem(n, n, K, transposes, 64), workspace);
          auto const sums = [](Planned const& p) { return p.rows[std::size_t(p.plan.candidate)].sums; };
          EXPECT_EQ(sums(one), sums(batch));
          if (batch.chosen() == "sgemm_slices_64x64") {
            EXPECT_EQ(batch.launch().problem.slice_K, one.launch().problem.slice_K);
          }
        }
}

TEST(GemmPlan, SmallGemmsTakeSmallTiles) {
  struct {
    std::int64_t n, K, L;
    bool small;
  } const cases[] = {{64, 64, 1, true},    {256, 256, 1, true},   {768, 256, 1, true},    {1024, 256, 1, false},
                     {128, 128, 32, true}, {256, 256, 32, false}, {256, 512, 1, true},    {256, 512, 2, true},
                     {256, 1024, 1, true}, {128, 2048, 2, true},  {512, 512, 1, true},    {64, 65536, 1, false},
                     {64, 1000, 1, true},  {2048, 256, 1, false}, {1024, 4096, 1, false}, {4096, 4096, 1, false}};
  for (auto const& [n, K, L, small] : cases)
    EXPECT_EQ(chosen(problem(n, n, K, "nn", L), true) == "sgemm_split_32x32", small)
        << n << " x " << n << " x " << K << " x " << L << ": " << chosen(problem(n, n, K, "nn", L), true);
}

// Up to a K of 256 the batch may decide between kernels that form a sum in one chain.
TEST(GemmPlan, ShallowGemmsAreOneChain) {
  std::set<std::string> const one_chain = {"sgemm_simple", "sgemm_tile_128x128",    "sgemm_tile_128x256",
                                           "sgemm_tma",    "sgemm_tma_transposing", "sgemm_split_64x64",
                                           "sgemm_narrow", "sgemm_split_32x32",     "sgemm_packed",
                                           "sgemm_outer",  "sgemm_tma_stream_k"};
  for (char const* transposes : {"nn", "nt", "tn", "tt"})
    for (std::int64_t K : {1, 33, 128, 256})
      for (std::int64_t n : {8, 64, 101, 256, 1024})
        for (bool workspace : {false, true}) {
          std::string const alone = chosen(problem(n, n, K, transposes), workspace);
          for (std::int64_t L : {1, 64, 1000}) {
            std::string const name = chosen(problem(n, n, K, transposes, L), workspace);
            EXPECT_TRUE(one_chain.contains(alone) ? one_chain.contains(name) : name == alone)
                << name << ", " << n << " x " << n << " x " << K << " x " << L << " " << transposes;
          }
        }
}

// A batch that fills the GPU sums in the slices of a single matrix, without partial sums in the workspace.
TEST(GemmPlan, FullBatchesSumInTheSlicesOfOneMatrix) {
  struct {
    std::int64_t m, n, K, L;
  } const cases[] = {{512, 512, 512, 64}, {512, 512, 512, 5},  {100, 100, 1000, 500}, {64, 1024, 512, 96},
                     {40, 900, 260, 100}, {40, 900, 300, 100}, {333, 129, 555, 100},  {77, 512, 2304, 40}};
  for (auto const& [m, n, K, L] : cases) {
    SCOPED_TRACE(std::to_string(m) + " x " + std::to_string(n) + " x " + std::to_string(K));
    Planned const one(problem(m, n, K), true), batch(problem(m, n, K, "nn", L), true);
    ASSERT_TRUE(one.plan.find<Reduction>()) << one.chosen();
    EXPECT_EQ(batch.chosen(), "sgemm_slices_64x64");
    EXPECT_EQ(batch.plan.num_launches, 1);
    EXPECT_EQ(batch.launch().problem.slices, 1);
    EXPECT_EQ(batch.launch().problem.slice_K, one.launch().problem.slice_K);
    EXPECT_GT(batch.plan.workspace_bytes, 0u);  // else a caller would pass none, and one matrix would not be split
    EXPECT_GT(batch.launch().problem.slice_K, 0);
    EXPECT_NE(Planned(problem(m, n, K, "nn", L), false).chosen(), "sgemm_slices_64x64");
    EXPECT_NE(Planned(problem(m, n, K, "nn", 2), true).chosen(), "sgemm_slices_64x64") << "does not fill the GPU";
  }
}

TEST(GemmPlan, BatchesOfMatricesThatAreNotSplitTakeTheSameKernel) {
  Planned const one(problem(64, 65536, 512), true), batch(problem(64, 65536, 512, "nn", 2), true);
  EXPECT_FALSE(one.plan.find<Reduction>());
  EXPECT_EQ(batch.chosen(), one.chosen());
}

// ---- the workspace
constexpr Layout aligned = Layout::aligned, aligned_mn = Layout::aligned_mn;

TEST(GemmPlan, WithoutAWorkspaceOnlyKernelsThatWantNone) {
  Candidate<Gemm> const all[] = {{.kernel = &own_workspace},
                                 {.kernel = &nothing, .a = aligned_mn},
                                 {.kernel = &nothing, .b = aligned_mn},
                                 {.kernel = &nothing}};
  Planned const p(problem(64, 64, 64, "nt"), false, all);
  EXPECT_EQ(p.plan.candidate, 3);
  EXPECT_EQ(p.plan.workspace_bytes, 0u);
  EXPECT_SAYS(p, "own_workspace: it needs a workspace of 16 bytes, and there is none");
  EXPECT_SAYS(p, "nothing: A would have to be packed, for which there is no workspace");
  EXPECT_SAYS(p, "nothing: B would have to be packed, for which there is no workspace");
  EXPECT_SAYS(p, "workspace: 0 bytes (none was offered)");
  EXPECT_EQ(Planned(problem(64, 64, 64, "tn"), false, all).plan.candidate, 1);  // nothing to pack
}
TEST(GemmPlan, WhatRunsWithoutIsAskedToDoSo) {
  Candidate<Gemm> const all[] = {{.kernel = &own_workspace, .workspace_is_optional = true}};
  Planned const without(problem(64, 64, 64), false, all), with(problem(64, 64, 64), true, all);
  EXPECT_EQ(without.chosen(), "own_workspace");
  EXPECT_EQ(without.plan.workspace_bytes, 0u);
  EXPECT_EQ(without.launch().workspace.in, OperandSlot::In::nothing);
  EXPECT_EQ(with.plan.workspace_bytes, 16u);
  expect_workspace(with.launch().workspace, 0);
}
TEST(GemmPlan, AWorkspaceIsUsedAsFarAsItGoes) {
  Info<Gemm> slow = own_workspace;
  slow.seconds = [](Gemm const&, Device const&) { return 1e-3; };
  Candidate<Gemm> const all[] = {{.kernel = &nothing, .a = aligned_mn},
                                 {.kernel = &slow, .workspace_is_optional = true}};
  Gemm const gemm = problem(64, 64, 64, "nt");  // A of 16 KB is packed
  constexpr std::size_t packed = 64 * 64 * sizeof(float);
  for (auto const& [bytes, candidate, used] :
       {std::tuple{packed, 0, packed}, {packed - 1, 1, std::size_t(16)}, {16, 1, 16}, {15, 1, 0}, {0, 1, 0}}) {
    SCOPED_TRACE(bytes);
    Planned const p(gemm, WorkspaceLimit(bytes), all);
    EXPECT_EQ(p.plan.candidate, candidate);
    EXPECT_EQ(p.plan.workspace_bytes, used);
  }
  EXPECT_SAYS(Planned(gemm, WorkspaceLimit(packed - 1), all),
              "nothing: it needs a workspace of 16384 bytes, and there are 16383");
  EXPECT_SAYS(Planned(gemm, WorkspaceLimit(packed - 1), all), "workspace: 16 bytes (16383 were offered)");
}
// No candidate of the library needs more workspace than the limit.
TEST(GemmPlan, NoPlanNeedsMoreThanThereIs) {
  for (std::string transposes : {"nn", "nt", "tn", "tt"})
    for (Gemm const& gemm : {problem(1001, 1003, 999, transposes), problem(64, 64, 1 << 16, transposes),
                             problem(100, 60, 9000, transposes, 3)}) {
      std::size_t const wanted = make_plan(gemm, Device{}, true).workspace_bytes;
      for (std::size_t bytes : {std::size_t(0), std::size_t(255), wanted / 3, wanted - 1, wanted, 2 * wanted}) {
        Planned const p(gemm, WorkspaceLimit(bytes));
        EXPECT_GE(p.plan.candidate, 0);
        EXPECT_LE(p.plan.workspace_bytes, bytes);
        if (bytes >= wanted) {
          EXPECT_EQ(p.plan.workspace_bytes, wanted);
        }
      }
    }
}
TEST(GemmPlan, PackedOperandsLieOneBehindTheOther) {
  Candidate<Gemm> const all[] = {{.kernel = &own_workspace, .a = aligned_mn, .b = aligned_mn}};
  Planned const p(problem(65, 30, 9, "nt", 3), true, all);
  ASSERT_EQ(p.plan.num_launches, 3);
  ASSERT_TRUE(std::holds_alternative<LaunchOf<Copy>>(p.plan.launches[0]));
  ASSERT_TRUE(std::holds_alternative<LaunchOf<Copy>>(p.plan.launches[1]));
  ASSERT_TRUE(std::holds_alternative<LaunchOf<Gemm>>(p.plan.launches[2]));
  LaunchOf<Copy> const &pack_a = *p.plan.find<Copy>(0), &pack_b = *p.plan.find<Copy>(1);
  EXPECT_EQ(p.plan.find<Copy>(2), nullptr);
  std::size_t const a = 3 * 9 * 68 * 4, b = 3 * 9 * 32 * 4;  // 7344 and 3456 bytes, rows of whole vectors
  std::size_t const offset_b = (a + 255) / 256 * 256, offset_own = offset_b + (b + 255) / 256 * 256;
  EXPECT_EQ(p.plan.workspace_bytes, offset_own + 48);
  Gemm const& packed = p.launch().problem;
  EXPECT_EQ(packed.A.row_stride, 1);
  EXPECT_EQ(packed.A.col_stride, 68);
  EXPECT_EQ(packed.A.batch_stride, 9 * 68);
  EXPECT_EQ(packed.B.row_stride, 1);
  EXPECT_EQ(packed.B.col_stride, 32);
  EXPECT_EQ(packed.B.batch_stride, 9 * 32);
  EXPECT_EQ(packed.D.base, p.gemm.D.base);
  EXPECT_EQ(packed.M(), 65);
  EXPECT_EQ(packed.N(), 30);
  EXPECT_EQ(packed.K(), 9);
  EXPECT_EQ(packed.L(), 3);
  // The moves: 3 matrices, contiguous along k in the operand and along m or n in the workspace.
  auto const& copy = pack_a.problem.as_transpose();
  ASSERT_TRUE(copy);
  EXPECT_EQ(copy->in, p.gemm.A.base);
  EXPECT_EQ(copy->M, 65);
  EXPECT_EQ(copy->N, 9);
  EXPECT_EQ(copy->L, 3);
  EXPECT_EQ(copy->ld_out, 68);
  EXPECT_EQ(pack_a.problem.dst, presumed(0));
  EXPECT_EQ(pack_b.problem.dst, presumed(offset_b));
  EXPECT_EQ(packed.A.base, pack_a.problem.dst);
  EXPECT_EQ(packed.B.base, pack_b.problem.dst);
  // And where all of that lies when it runs.
  expect_workspace(pack_a.slots[0], 0), expect_operand(pack_a.slots[1], 0);
  expect_workspace(pack_b.slots[0], offset_b), expect_operand(pack_b.slots[1], 1);
  expect_workspace(p.launch().slots[0], 0), expect_workspace(p.launch().slots[1], offset_b);
  expect_operand(p.launch().slots[2], 2);
  expect_workspace(p.launch().workspace, offset_own);
  EXPECT_SAYS(p, "  A is packed by copy_elements: it is contiguous along k\n");
  EXPECT_SAYS(p, "  B is packed by copy_elements: it is contiguous along k\n");
  EXPECT_SAYS(p, "workspace: 11056 bytes\n");
}
TEST(GemmPlan, AMatrixThatTheBatchSharesIsPackedOnce) {
  Candidate<Gemm> const all[] = {{.kernel = &nothing, .a = aligned_mn}};
  Gemm g = problem(64, 64, 16, "nn", 100);
  g.A.batch_stride = 0, g.A.matrices = 1;
  Planned const p(g, true, all);
  ASSERT_TRUE(p.plan.find<Copy>());
  EXPECT_EQ(p.plan.find<Copy>(1), nullptr);
  EXPECT_EQ(p.plan.find<Copy>()->problem.elements(), 64 * 16);
  EXPECT_EQ(p.launch().problem.A.batch_stride, 0);
  EXPECT_EQ(p.launch().problem.A.matrices, 1);
  EXPECT_EQ(p.launch().problem.L(), 100);
  EXPECT_EQ(p.plan.workspace_bytes, 64u * 16 * 4);
}
TEST(GemmPlan, DoesNotPackOperandsInTheRequiredLayout) {
  Candidate<Gemm> const along[] = {{.kernel = &nothing, .a = aligned_mn, .b = aligned_mn}};
  Candidate<Gemm> const either[] = {{.kernel = &nothing, .a = aligned, .b = aligned}};
  Candidate<Gemm> const transposing[] = {{.kernel = &nothing, .a = aligned, .b = aligned, .packs_b_along_n = true}};
  auto const bytes = [](Gemm const& g, Rows rows) { return Planned(g, true, rows).plan.workspace_bytes; };
  EXPECT_EQ(bytes(problem(64, 32, 16, "tn"), along), 0u);
  EXPECT_EQ(bytes(problem(64, 32, 16, "nn"), along), 64u * 16 * 4);
  EXPECT_EQ(bytes(problem(64, 32, 16, "tt"), along), 32u * 16 * 4);
  EXPECT_EQ(bytes(problem(64, 32, 16, "nt"), either), 0u);
  EXPECT_EQ(bytes(problem(64, 32, 16, "nt"), transposing), 32u * 16 * 4);  // both along k: one of them is transposed
  EXPECT_EQ(bytes(problem(64, 32, 16, "nn"), transposing), 0u);
  EXPECT_EQ(bytes(problem(64, 32, 16, "tt"), transposing), 0u);
  Gemm nothing_to_read = problem(64, 32, 16, "nt").with_K(0);
  nothing_to_read.A.base = nothing_to_read.B.base = nullptr;
  EXPECT_EQ(bytes(nothing_to_read, along), 0u);
}
TEST(GemmPlan, SaysWhyAnOperandIsPacked) {
  Candidate<Gemm> const all[] = {{.kernel = &nothing, .a = aligned}};
  auto const expect = [&](Gemm const& g, std::string const& reason) {
    EXPECT_SAYS(Planned(g, true, all), ": " + reason + "\n");
  };
  expect(problem(64, 64, 64, "nn", 1, 3), "its rows are 67 elements apart, which is no multiple of 4");
  expect(problem(64, 64, 64, "nn", 1, 0, kA + 12), "it begins 12 bytes past a multiple of 16");
  Gemm g = problem(64, 64, 64, "nn", 2);
  g.A.batch_stride = 5001;
  expect(g, "its matrices are 5001 elements apart, which is no multiple of 4");
  g.A.batch_stride = -5000;
  expect(g, "its matrices are -5000 elements apart");
  g.A.batch_stride = 5000, g.A.row_stride = -64;
  expect(g, "its rows of 64 elements are -64 apart");
  g.A.row_stride = 0;
  expect(g, "its rows of 64 elements are 0 apart");
}
TEST(GemmPlan, WhatIsContiguousNowhereIsPackedToo) {
  Candidate<Gemm> const all[] = {{.kernel = &nothing, .a = aligned_mn}};
  Gemm g = problem(64, 64, 64, "nn", 2);
  g.A.row_stride = 200, g.A.col_stride = 3, g.A.batch_stride = 20000;
  Planned const p(g, true, all);
  EXPECT_EQ(p.chosen(), "nothing");
  EXPECT_SAYS(p, "A: strides of 200 along m and 3 along k");
  EXPECT_NE(p.plan.find<Copy>(), nullptr);
  EXPECT_EQ(p.plan.num_launches, 2);
}
// A row that packs and is then refused leaves nothing of that behind.
TEST(GemmPlan, NothingIsHalfFilledInAfterAFailedAttempt) {
  Candidate<Gemm> const all[] = {{.kernel = &refuses, .a = aligned_mn, .b = aligned_mn}, {.kernel = &nothing}};
  Gemm g = problem(64, 64, 64, "nn", 2);
  g.B.row_stride = 200, g.B.col_stride = 3, g.B.batch_stride = 20000;
  Planned const p(g, true, all);
  EXPECT_SAYS(p, "refuses: 64 rows are not to its taste");
  EXPECT_EQ(p.plan.candidate, 1);
  EXPECT_EQ(p.plan.num_launches, 1);
  EXPECT_EQ(p.plan.find<Copy>(), nullptr);
  EXPECT_EQ(p.plan.workspace_bytes, 0u);
  expect_operand(p.launch().slots[0], 0), expect_operand(p.launch().slots[1], 1);
  EXPECT_EQ(p.launch().problem.A.base, g.A.base);
  // Where nobody can at all, the plan is as empty as one of nothing.
  Planned const none(g, true, Rows(all).first(1));
  EXPECT_EQ(none.plan.candidate, -1);
  EXPECT_EQ(none.plan.num_launches, 0);
  EXPECT_EQ(none.plan.workspace_bytes, 0u);
}
TEST(GemmPlan, WhatTakesManyTimesItsBytesIsNotPacked) {
  Candidate<Gemm> const all[] = {{.kernel = &nothing, .a = aligned_mn}, {.kernel = &own_workspace}};
  Gemm g = problem(64, 64, 64, "nn");
  g.A.rows = g.D.rows = std::int64_t(1) << 40;
  g.A.row_stride = 0, g.A.col_stride = 3, g.D.row_stride = 64;  // one row of A, again and again
  for (std::int64_t K : {std::int64_t(64), std::int64_t(1) << 26}) {
    Planned const p(g.with_K(K), true, all);
    EXPECT_EQ(p.chosen(), "own_workspace");
    EXPECT_SAYS(p, "nothing: its workspace of ");
  }
}

// ---- where operands lie
TEST(GemmPlan, OperandsThatChangedPlacesAreFoundWhereTheCallerHasThem) {
  auto const view_of = [](std::uint64_t base, std::int64_t rows, std::int64_t cols) {
    return matrix(reinterpret_cast<void*>(base), f32, rows, cols);
  };
  Candidate<Gemm> const lies[] = {{.kernel = &nothing}};
  Candidate<Gemm> const packs[] = {{.kernel = &nothing, .a = aligned_mn, .b = aligned_mn}};
  for (bool by_columns : {false, true}) {
    SCOPED_TRACE(by_columns ? "C by columns" : "C by rows");
    int const first = by_columns ? 1 : 0;  // the caller's operand behind A
    Tensor const C = by_columns ? view_of(kC, 20, 12).transposed() : view_of(kC, 12, 20);
    Gemm const g = make_gemm(view_of(kA, 12, 8), view_of(kB, 8, 20), C, {}, Compute::fp32);
    ASSERT_EQ(g.exchanged, by_columns);
    Planned const p(g, true, lies);
    ASSERT_EQ(p.plan.num_launches, 1);
    expect_operand(p.launch().slots[0], first);
    expect_operand(p.launch().slots[1], 1 - first);
    expect_operand(p.launch().slots[2], 2);
    EXPECT_EQ(p.launch().workspace.in, OperandSlot::In::nothing);
    // The caller's A is contiguous along k, and is packed: as A or, where they have changed places, as B.
    Planned const q(g, true, packs);
    ASSERT_EQ(q.plan.num_launches, 2);
    expect_workspace(q.plan.find<Copy>()->slots[0], 0);
    expect_operand(q.plan.find<Copy>()->slots[1], 0);
    EXPECT_EQ(q.plan.find<Copy>()->problem.src, reinterpret_cast<void*>(kA));
    expect_workspace(q.launch().slots[first], 0);
    expect_operand(q.launch().slots[1 - first], 1);
    expect_operand(q.launch().slots[2], 2);
  }
}

// ---- GEMMs whose K is split into slices
TEST(GemmPlan, AGemmInPartsHasTwoSteps) {
  for (std::int64_t L : {1, 3}) {
    Gemm const g = problem(64, 96, 20000, "nn", L);
    Planned const p(g, true);
    ASSERT_TRUE(p.chosen().starts_with("sgemm_split_")) << p.chosen();
    std::size_t const bytes = p.launch().kernel->workspace(g, Device{});
    ASSERT_EQ(p.plan.num_launches, 2);
    ASSERT_TRUE(std::holds_alternative<LaunchOf<Gemm>>(p.plan.launches[0]));
    ASSERT_TRUE(std::holds_alternative<LaunchOf<Reduction>>(p.plan.launches[1]));
    EXPECT_GT(bytes, 0u);
    EXPECT_EQ(p.plan.workspace_bytes, bytes);

    // The parts, where their sums go, and that nothing else happens to those.
    Gemm const& slices = p.launch().problem;
    EXPECT_GT(slices.slices, 1);
    EXPECT_EQ(std::size_t(slices.slices * g.elements()) * sizeof(float), bytes);
    EXPECT_LT((slices.slices - 1) * slices.slice_K, g.K());
    EXPECT_GE(slices.slices * slices.slice_K, g.K());
    EXPECT_EQ(slices.epilogue.alpha, 1);
    EXPECT_EQ(slices.epilogue.beta, 0);
    EXPECT_EQ(slices.D.base, presumed(0));
    EXPECT_EQ(slices.D.row_stride, 96);
    EXPECT_EQ(slices.D.col_stride, 1);
    EXPECT_EQ(slices.D.batch_stride, 64 * 96);
    expect_operand(p.launch().slots[0], 0);
    expect_operand(p.launch().slots[1], 1);
    expect_workspace(p.launch().slots[2], 0);

    // Their sum, which goes to the caller's C.
    LaunchOf<Reduction> const& sum = *p.plan.find<Reduction>();
    EXPECT_STREQ(sum.kernel->name, "sum_slices");
    EXPECT_EQ(sum.problem.slices, slices.slices);
    EXPECT_EQ(sum.problem.partial.base, presumed(0));
    EXPECT_EQ(sum.problem.D.base, g.D.base);
    EXPECT_EQ(sum.problem.elements(), g.elements());
    expect_workspace(sum.slots[0], 0);
    expect_operand(sum.slots[1], 2);
    EXPECT_SAYS(p, "  K is split into " + std::to_string(slices.slices) + " slices, which sum_slices adds\n");
    EXPECT_EQ(Planned(g, false).plan.num_launches, 1);  // there is nowhere to put parts
  }
}
TEST(GemmPlan, TheSumOfPartsScales) {
  Gemm g = problem(64, 96, 20000);
  g.epilogue = {.alpha = 3, .beta = -2};
  Planned const p(g, true);
  ASSERT_TRUE(p.plan.find<Reduction>());
  EXPECT_EQ(p.plan.find<Reduction>()->problem.epilogue.alpha, 3);
  EXPECT_EQ(p.plan.find<Reduction>()->problem.epilogue.beta, -2);
  EXPECT_EQ(p.launch().problem.epilogue.alpha, 1);
  EXPECT_EQ(p.launch().problem.epilogue.beta, 0);
}
// Parts behind packed operands: nothing of the two lies over each other.
TEST(GemmPlan, PartsLieBehindPackedOperands) {
  Candidate<Gemm> const all[] = {{.kernel = &split_64x64, .a = aligned_mn, .b = aligned_mn}};
  Gemm const g = problem(64, 96, 20000, "nt");
  Planned const p(g, true, all);
  std::size_t const a = 64 * 20000 * 4, b = 96 * 20000 * 4;
  ASSERT_EQ(p.plan.num_launches, 4);
  EXPECT_EQ(p.plan.workspace_bytes, a + b + kernels::sgemm_split_64x64::kernel.workspace(p.launch().problem, Device{}));
  expect_workspace(p.launch().slots[0], 0);
  expect_workspace(p.launch().slots[1], a);
  expect_workspace(p.launch().slots[2], a + b);
  expect_workspace(p.plan.find<Reduction>()->slots[0], a + b);
  EXPECT_EQ(p.plan.find<Reduction>()->problem.partial.base, presumed(a + b));
}

// ---- running it: what a GPU would do for packed operands, tests/test_gemm_gpu.cpp sees
TEST(GemmPlan, RunsWhatWasPlanned) {
  Candidate<Gemm> const all[] = {{.kernel = &own_workspace}};
  Planned const p(problem(3, 5, 7, "nt"), true, all);
  int workspace = 0;
  ran = {}, ran_in = nullptr;
  run(p.plan, Device{}, {{p.gemm.A.base, p.gemm.B.base, p.gemm.D.base}, &workspace}, nullptr);
  EXPECT_EQ(ran_in, &workspace);
  EXPECT_EQ(ran.A.base, p.gemm.A.base);
  EXPECT_EQ(ran.B.base, p.gemm.B.base);
  EXPECT_EQ(ran.D.base, p.gemm.D.base);
  EXPECT_EQ(ran.M(), 3);
}
TEST(GemmPlan, RunsWithOtherOperands) {
  Candidate<Gemm> const all[] = {{.kernel = &own_workspace}};
  float A[21], B[35], C[15], workspace[4];
  for (bool by_columns : {false, true}) {
    auto const view_of = [](std::uint64_t base, std::int64_t rows, std::int64_t cols) {
      return matrix(reinterpret_cast<void*>(base), f32, rows, cols);
    };
    Gemm const g = make_gemm(view_of(kA, 3, 7), view_of(kB, 7, 5),
                             by_columns ? view_of(kC, 5, 3).transposed() : view_of(kC, 3, 5), {}, Compute::fp32);
    Planned const p(g, true, all);
    ran = {}, ran_in = nullptr;
    run(p.plan, Device{}, {{A, B, C}, workspace}, nullptr);
    EXPECT_EQ(ran.A.base, by_columns ? B : A);
    EXPECT_EQ(ran.B.base, by_columns ? A : B);
    EXPECT_EQ(ran.D.base, C);
    EXPECT_EQ(ran_in, workspace);
    EXPECT_EQ(ran.A.row_stride, g.A.row_stride);
    EXPECT_EQ(ran.D.row_stride, g.D.row_stride);
  }
}
// The steps of a plan that packs one operand and adds parts, each with where it finds what: in the order of launches.
TEST(GemmPlan, RunsItsStepsInOrder) {
  static std::vector<std::string> order;
  static Copy packed;
  static Reduction summed;
  order.clear();
  auto const copies =
      only_run<Copy>([](Copy const& m, Device const&, void*, cudaStream_t) { order.push_back("copy"), packed = m; });
  auto const multiplies = only_run<Gemm>(
      [](Gemm const& g, Device const&, void* own, cudaStream_t) { order.push_back("gemm"), ran = g, ran_in = own; });
  auto const adds = only_run<Reduction>(
      [](Reduction const& r, Device const&, void*, cudaStream_t) { order.push_back("sum"), summed = r; });
  Candidate<Gemm> const all[] = {{.kernel = &split_64x64, .a = aligned_mn}};
  Plan plan = Planned(problem(64, 96, 20000, "nn"), true, all).plan;
  ASSERT_EQ(plan.num_launches, 3);
  std::get<LaunchOf<Copy>>(plan.launches[0]).kernel = &copies;
  std::get<LaunchOf<Gemm>>(plan.launches[1]).kernel = &multiplies;
  std::get<LaunchOf<Reduction>>(plan.launches[2]).kernel = &adds;
  char A[16], B[16], C[16], workspace[16];
  run(plan, Device{}, {{A, B, C}, workspace}, nullptr);
  EXPECT_EQ(order, (std::vector<std::string>{"copy", "gemm", "sum"}));
  EXPECT_EQ(packed.src, A);
  EXPECT_EQ(packed.dst, workspace);
  EXPECT_EQ(ran.A.base, workspace);
  EXPECT_EQ(ran.B.base, B);
  std::size_t const a = 64 * 20000 * 4;
  EXPECT_EQ(ran.D.base, workspace + a);
  EXPECT_EQ(summed.partial.base, workspace + a);
  EXPECT_EQ(summed.D.base, C);
}

// ---- what may be refused is refused before the first launch
std::vector<std::string> events;
template <class P, char what>
Info<P> const tells = only_run<P>(
    [](P const&, Device const&, void*, cudaStream_t) {
      events.push_back({'+', what});
    },
    [](P const&, Device const&, void*) {
      events.push_back({'?', what});
      if (what == 'X') throw Error("no space for X");
    });
template <char last>
std::string events_of_three_launches() {
  events.clear();
  Candidate<Gemm> const all[] = {{.kernel = &split_64x64, .a = aligned_mn}};
  Plan plan = Planned(problem(64, 96, 20000, "nn"), true, all).plan;
  std::get<LaunchOf<Copy>>(plan.launches[0]).kernel = &tells<Copy, 'm'>;
  std::get<LaunchOf<Gemm>>(plan.launches[1]).kernel = &tells<Gemm, 'g'>;
  std::get<LaunchOf<Reduction>>(plan.launches[2]).kernel = &tells<Reduction, last>;
  char A[16], B[16], C[16], workspace[16];
  std::string said;
  try {
    run(plan, Device{}, {{A, B, C}, workspace}, nullptr);
  } catch (Error const& e) {
    said = e.what();
  }
  for (std::string const& e : events) said += " " + e;
  return said;
}
TEST(GemmPlan, WhatMayBeRefusedIsRefusedBeforeTheFirstLaunch) {
  EXPECT_EQ(events_of_three_launches<'s'>(), " ?m ?g ?s +m +g +s");
  EXPECT_EQ(events_of_three_launches<'X'>(), "no space for X ?m ?g ?X");
}

// What a plan with one step and no workspace relies on: its one kernel is refused before it is launched, or not at all.
struct NoEncoder {
  CUtensorMap operator()(block::TmaTensor const&) const { return {}; }
};
template <class... V>
int most_kernels(Gemm const& g, bool with_workspace) {
  alignas(256) static char workspace[256];
  int most = 0;
  auto const count = [&]<class One>(std::type_identity<One>) {
    if (One::rejects(g, Device{})) return;
    int kernels = 0;
    kernels::launches<One>(g, kernels::Setting<NoEncoder>{Device{}, with_workspace ? workspace : nullptr, {}},
                           [&](auto const&) { ++kernels; });
    most = std::max(most, kernels);
  };
  (count(std::type_identity<V>{}), ...);
  return most;
}
TEST(GemmPlan, WithoutAWorkspaceAKernelLaunchesOneKernel) {
  using namespace kernels;
  int with_one = 0;
  for (std::string transposes : {"nn", "nt", "tn", "tt"})
    for (auto [M, N, K] : {std::array{64, 96, 20000}, {1500, 1400, 1000}, {2048, 2048, 512}, {20, 4000, 5000}}) {
      auto const most = [&](bool with_workspace) {
        return most_kernels<sgemm_simple::Kernel, sgemm_tile_128x128::Kernel, sgemm_tile_128x256::Kernel,
                            SgemmRing<WholeTiles>, SgemmRing<StreamK>, sgemm_tma_transposing::Kernel,
                            SgemmRing<BlockedSums>, sgemm_cluster::Kernel, sgemm_split_64x64::Kernel,
                            sgemm_narrow::Kernel, sgemm_tile_blocked::Kernel, sgemm_split_32x32::Kernel>(
            problem(M, N, K, transposes, 3), with_workspace);
      };
      EXPECT_EQ(most(false), 1);
      with_one = std::max(with_one, most(true));
    }
  EXPECT_GT(with_one, 1);
}

// ---- in pieces, where a grid does not hold the whole batch
constexpr std::int64_t kMost = 9;  // matrices
Reason most_of_any(Gemm const& g, Device const&) {
  return too_many("{} matrices are too many", 1, g.L(), {g.L(), 0, 0}, kMost);
}
Reason only_most(Gemm const& g, Device const& device) {
  if (Reason r = most_of_any(g, device)) return r;
  return kernels::sgemm_split_64x64::kernel.rejects(g, device);
}
// What kernels would do, on the host and in any order of k: numbers are whole.
void copy_on_host(Copy const& m, Device const&, void*, cudaStream_t) {
  for (std::int64_t i = 0; i < m.elements(); ++i) {
    std::int64_t rest = i, from = 0, to = 0;
    for (int k = 0; k < m.rank; rest /= m.mode[k].extent, ++k)
      from += rest % m.mode[k].extent * m.mode[k].src_stride, to += rest % m.mode[k].extent * m.mode[k].dst_stride;
    std::memcpy(static_cast<char*>(m.dst) + to, static_cast<char const*>(m.src) + from, std::size_t(m.elem_bytes));
  }
}
float& element(Operand const& o, std::int64_t i, std::int64_t j, std::int64_t l) {
  return o.as<float>()[i * o.row_stride + j * o.col_stride + l * o.batch_stride];
}
void multiply_on_host(Gemm const& g, Device const&, void*, cudaStream_t) {
  EXPECT_LE(g.L(), kMost);
  for (std::int64_t part = 0; part < g.slices; ++part)
    for (std::int64_t l = 0; l < g.L(); ++l)
      for (std::int64_t m = 0; m < g.M(); ++m)
        for (std::int64_t n = 0; n < g.N(); ++n) {
          std::int64_t const first = part * g.slice_K, end = g.slices > 1 ? std::min(g.K(), first + g.slice_K) : g.K();
          float sum = 0;
          for (std::int64_t k = first; k < end; ++k) sum += element(g.A, m, k, l) * element(g.B, n, k, l);
          float& c = element(g.D, m, n, part * g.L() + l);
          float const old = g.C.base ? element(g.C, m, n, l) : c;
          c = g.epilogue.alpha * sum + (g.epilogue.beta != 0 ? g.epilogue.beta * old : 0);
          if (g.epilogue.activation == Activation::relu) c = std::max(c, 0.f);
        }
}
void add_on_host(Reduction const& r, Device const&, void*, cudaStream_t) {
  for (std::int64_t l = 0; l < r.D.matrices; ++l)
    for (std::int64_t m = 0; m < r.D.rows; ++m)
      for (std::int64_t n = 0; n < r.D.cols; ++n) {
        float &c = element(r.D, m, n, l), sum = r.slices ? 0 : c;
        for (int p = 0; p < r.slices; ++p) sum += (&element(r.partial, m, n, l))[p * r.elements()];
        c = r.epilogue.alpha * sum + (r.epilogue.beta != 0 ? r.epilogue.beta * element(r.addend(), m, n, l) : 0);
        if (r.epilogue.activation == Activation::relu) c = std::max(c, 0.f);
      }
}
Plan on_host(Plan plan) {
  static Info<Copy> const copies = only_run<Copy>(copy_on_host);
  static Info<Gemm> const multiplies = only_run<Gemm>(multiply_on_host);
  static Info<Reduction> const adds = only_run<Reduction>(add_on_host);
  for (int i = 0; i < plan.num_launches; ++i) {
    PlannedLaunch& launch = plan.launches[std::size_t(i)];
    if (auto* s = std::get_if<LaunchOf<Copy>>(&launch)) s->kernel = &copies;
    if (auto* s = std::get_if<LaunchOf<Gemm>>(&launch)) s->kernel = &multiplies;
    if (auto* s = std::get_if<LaunchOf<Reduction>>(&launch)) s->kernel = &adds;
  }
  if (plan.last_chunk) plan.last_chunk = std::make_shared<Plan const>(on_host(*plan.last_chunk));
  return plan;
}
// Strides of D along m, n and the batch.
struct StridesOfD {
  std::int64_t m, n, l;
};
// L matrices of 6 x 5 with rows of a pitch that no vector has; A may be shared by the batch.
// adds: D = relu(2 A B - C), where C has a row for each matrix, which is repeated; otherwise D = 2 A B - D.
void expect_gemms(Candidate<Gemm> const& row, std::int64_t L, std::int64_t K, bool shared, StridesOfD const& d,
                  bool adds) {
  std::int64_t const M = 6, N = 5, pitch = K + 3;
  std::vector<float> a(std::size_t(L * M * pitch)), b(std::size_t(L * K * N)), c(std::size_t(L * d.l)), expected;
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = float(int(i * 7 % 11) - 5);
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = float(int(i * 5 % 13) - 6);
  for (std::size_t i = 0; i < c.size(); ++i) c[i] = float(int(i % 9) - 4);
  inlay::Tensor const A = tensor(a.data(), {L, M, K}, {shared ? 0 : M * pitch, pitch, 1}),
                      B = tensor(b.data(), {L, K, N}), C = tensor(c.data(), {L, M, N}, {d.l, d.m, d.n});
  std::vector<float> rows(std::size_t(L * N));
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = float(int(i * 3 % 17) - 8);
  ConstTensor const added = tensor(rows.data(), {L, 1, N});
  Gemm const g = make_batched_gemm(A, B, C, {2, -1, adds ? Activation::relu : Activation::none}, Compute::fp32,
                                   adds ? &added : nullptr)
                     .gemm;
  expected = c;
  for (std::int64_t l = 0; l < L; ++l)
    for (std::int64_t m = 0; m < M; ++m)
      for (std::int64_t n = 0; n < N; ++n) {
        float sum = 0;
        for (std::int64_t k = 0; k < K; ++k)
          sum += a[std::size_t((shared ? 0 : l * M * pitch) + m * pitch + k)] * b[std::size_t((l * K + k) * N + n)];
        float& x = expected[std::size_t(l * d.l + m * d.m + n * d.n)];
        x = 2 * sum - (adds ? rows[std::size_t(l * N + n)] : x);
        if (adds) x = std::max(x, 0.f);
      }
  Planned const p(g, true, Rows(&row, 1));
  ASSERT_EQ(p.plan.candidate, 0);
  EXPECT_EQ(p.plan.is_whole(), L <= kMost);
  EXPECT_EQ(p.why().find("the batch runs in ") != std::string::npos, L > kMost) << p.why();
  std::vector<char> workspace(p.plan.workspace_bytes + 64, 77);
  run(on_host(p.plan), Device{}, {{a.data(), b.data(), c.data(), rows.data()}, workspace.data()}, nullptr);
  EXPECT_EQ(c, expected) << (adds ? "adds, " : "") << "L " << L << " K " << K << (shared ? " shared" : "")
                         << ", strides of D " << d.m << " and " << d.n;
  for (std::size_t i = p.plan.workspace_bytes; i < workspace.size(); ++i) EXPECT_EQ(workspace[i], 77);
}
TEST(GemmInPieces, MultipliesEveryMatrixOnce) {
  Info<Gemm> split = kernels::sgemm_split_64x64::kernel, wgmma = kernels::hgemm_10_narrow_tiles::kernel;
  split.rejects = only_most, wgmma.rejects = most_of_any;
  Candidate<Gemm> const as_it_lies{.kernel = &split}, packed{.kernel = &split, .a = aligned_mn, .b = aligned},
      of_wgmma{.kernel = &wgmma, .tile = 9}, transposes{.kernel = &wgmma, .tile = 9, .transposes = true};
  for (auto const& row : {as_it_lies, packed, of_wgmma, transposes}) {
    bool const is_wgmma = row.kernel == &wgmma;
    std::int64_t const deep = is_wgmma ? 2500 : 700;
    ASSERT_GT(row.kernel->split(problem(6, 5, deep), Device{}).slices, 1);
    for (std::int64_t L : is_wgmma ? std::vector<std::int64_t>{1, 10} : std::vector<std::int64_t>{1, 9, 10, 21, 70})
      for (std::int64_t K : {std::int64_t(9), deep})  // whole, in parts
        for (bool shared : {false, true})
          for (StridesOfD const& d : {StridesOfD{5, 1, 30}, {1, 6, 30}, {16, 3, 97}, {2, 16, 80}})
            for (bool adds : {false, true}) expect_gemms(row, L, K, shared, d, adds);
  }
}
// K beyond what one launch sums: parts that follow each other, in fp32, with the epilogue of the call where it belongs.
TEST(GemmInPieces, ALongKIsSummedInParts) {
  for (auto const& [type, type_of_D, more] : {std::tuple{f32, f32, 9}, {f32, f32, 0}, {bf16, bf16, 9}, {f16, f32, 0}}) {
    std::int64_t const part = planner::part_K(type), K = planner::most_K(type) + (more ? more : 3 * part);
    std::int64_t const pitch = (K + 7) / 8 * 8;
    Operand const a{reinterpret_cast<void*>(1ull << 60), type, 1, K, 1, pitch, 1, 0},
        b{reinterpret_cast<void*>(1ull << 61), type, 1, K, 1, pitch, 1, 0},
        d{reinterpret_cast<void*>(1ull << 62), type_of_D, 1, 1, 1, 4, 1, 0};
    Gemm g;
    g.A = a, g.B = b, g.D = d, g.epilogue = {.alpha = 2, .beta = 3, .activation = Activation::relu};
    bool const is_apart = type_of_D == bf16;
    Planned const p(g, true);
    ASSERT_NE(p.chosen(), "") << p.why();
    EXPECT_SAYS(p, "K is summed in parts of " + std::to_string(part) + ", one after the other");
    EXPECT_EQ(p.why().find("in 256 bytes of workspace") != std::string::npos, is_apart) << p.why();
    std::int64_t sum_of_K = 0, number = 0, reductions = 0;
    char* const workspace = reinterpret_cast<char*>(1ull << 59);
    for_each_launch(p.plan, {{a.base, b.base, d.base}, workspace}, [&](auto const& launch, Operands const& now) {
      using Launch = std::decay_t<decltype(launch)>;
      if constexpr (std::is_same_v<Launch, LaunchOf<Gemm>>) {
        Gemm const part = at(launch, now);
        std::int64_t const bytes = sum_of_K * bytes_of(type);
        EXPECT_EQ(part.A.base, static_cast<char*>(a.base) + bytes);
        EXPECT_EQ(part.B.base, static_cast<char*>(b.base) + bytes);
        if (part.slices == 1) {
          EXPECT_EQ(part.D.base, is_apart ? workspace : d.base);
          EXPECT_EQ(part.epilogue.beta, number > 0 ? 1 : is_apart ? 0 : 3);
        }
        sum_of_K += part.K(), ++number;
      }
      if constexpr (std::is_same_v<Launch, LaunchOf<Reduction>>) {
        Reduction const r = at(launch, now);
        if (r.slices == 0) return;  // an activation of its own
        ++reductions;
        bool const is_last = sum_of_K == K && (!is_apart || r.partial.base == workspace);
        EXPECT_EQ(r.D.base, is_apart && !is_last ? workspace : d.base);
        EXPECT_EQ(r.epilogue.activation == Activation::relu, is_last && r.D.base == d.base);
      }
    });
    EXPECT_EQ(sum_of_K, K);
    EXPECT_EQ(number, ceil_div(K, part));
    EXPECT_GE(reductions, is_apart ? 1 : 0);
    Planned const without(g, false);
    EXPECT_EQ(without.chosen() == "", is_apart);
    EXPECT_EQ(without.why().find("in 256 bytes of workspace") != std::string::npos, is_apart);
  }
}
// What the library itself would launch: no grid limits a batch, and its length does not change how it adds.
TEST(GemmInPieces, BatchesOfAnyLength) {
  std::int64_t const billions = std::int64_t(1) << 31;
  for (std::string transposes : {"nn", "nt", "tn", "tt"})
    for (auto [M, N, K] : {std::array{1, 1, 1}, {4, 4, 4}, {33, 7, 20}, {70, 90, 40}})
      for (bool may : {false, true}) {
        auto const planned = [&](std::int64_t L) {
          auto const operand = [L](int bit, std::int64_t rows, std::int64_t cols, bool transposed) {
            auto* const base = reinterpret_cast<float*>(std::uint64_t(1) << bit);
            return transposed ? tensor(base, {L, cols, rows}).transposed() : tensor(base, {L, rows, cols});
          };
          return Planned(make_gemm(operand(59, M, K, transposes[0] == 't'), operand(60, K, N, transposes[1] == 't'),
                                   operand(61, M, N, false), {}, Compute::fp32),
                         may);
        };
        std::string const one_grid = planned(billions / 4096).chosen();
        for (std::int64_t L : {billions - 1, billions, billions + 5, 20 * billions}) {
          Planned const p = planned(L);
          EXPECT_EQ(p.chosen(), one_grid) << L;
          Plan const& plan = p.plan;
          ASSERT_EQ(plan.num_launches, 1);
          std::int64_t const piece = plan.find<Gemm>()->problem.L(),
                             rest = plan.last_chunk ? plan.last_chunk->find<Gemm>()->problem.L() : 0;
          EXPECT_EQ(plan.chunks * piece + rest, L);
          EXPECT_LE(piece / (p.chosen() == "sgemm_packed" ? 128 : 1), kMostBlocks);  // its blocks hold up to 128
          EXPECT_LE(plan.chunks, 1 + 16 * (L / kMostBlocks + 1)) << "no more pieces than it takes";
          EXPECT_EQ(plan.chunk_bytes[2] % 1024, 0);
        }
      }
}

// ---- bf16 and f16: the shortest predicted time
Gemm of_halves(std::int64_t M, std::int64_t N, std::int64_t K, std::int64_t L = 1, DType type_of_D = problem::bf16) {
  auto const operand = [L](std::uint64_t base, std::int64_t rows, std::int64_t cols, DType type) {
    Tensor t;
    t.data = reinterpret_cast<void*>(base), t.dtype = type, t.rank = 3;
    t.extent[0] = L, t.extent[1] = rows, t.extent[2] = cols;
    t.stride[2] = 1, t.stride[1] = cols, t.stride[0] = rows * cols;
    return t;
  };
  return make_gemm(operand(kA, M, K, problem::bf16), operand(kB, K, N, problem::bf16), operand(kC, M, N, type_of_D), {},
                   Compute::fp32);
}
// Blocks of blocked summation have at most 1024 FMAs: a kernel that would split K, and has no workspace for it or more
// than the bound, does not take its place.
TEST(GemmPlan, BlockedSumsAreNeverAllOfK) {
  for (std::int64_t n : {64, 16384})
    for (bool workspace : {false, true}) {
      Gemm g = problem(n, n, 16384);
      g.compute = Compute::fp32_blocked;
      int taken = 0;
      for (Candidate<Gemm> const& candidate : candidates<Gemm>()) {
        Attempt const a = attempt_in_chunks(candidate, g, Device{}, workspace);
        if (a.rejected) continue;
        ++taken;
        Sums const sums = candidate.sums;
        std::int64_t const slice_K = a.plan.find<Gemm>()->problem.slice_K;
        EXPECT_TRUE(sums == Sums::blocked || sums == Sums::blocked_in_registers || (slice_K > 0 && slice_K <= 1024))
            << candidate.kernel->name << " " << n;
      }
      EXPECT_GT(taken, 0);
    }
}
// Few rows, or a short K, are not padded to lines of 128 bytes.
TEST(GemmPlan, FewRowsArePackedTightly) {
  auto const view = [](std::uint64_t base, std::vector<std::int64_t> extents, std::vector<std::int64_t> strides) {
    return tensor(reinterpret_cast<void*>(base), problem::bf16, std::span<std::int64_t const>(extents),
                  std::span<std::int64_t const>(strides));
  };
  constexpr std::int64_t K = 16000000, long_K = 16909322;
  // x.t() @ x of (K,4): 8 elements a row in place of 64. A column of (long_K,127): contiguous along K.
  Gemm const narrow =
      make_gemm(view(kA, {4, K}, {1, 4}), view(kB, {K, 4}, {4, 1}), view(kC, {4, 4}, {4, 1}), {}, Compute::fp32);
  Gemm const column = make_gemm(view(kA, {1, long_K}, {1, 127}), view(kB, {long_K, 1}, {127, 1}),
                                view(kC, {1, 1}, {1, 1}), {}, Compute::fp32);
  for (auto const& [gemm, operands] : {std::pair{narrow, 2 * K * 8 * 2}, {column, 2 * long_K * 2}}) {
    Planned const p(gemm, true);
    ASSERT_GE(p.plan.candidate, 0);
    EXPECT_LE(std::int64_t(p.plan.workspace_bytes), operands + (1 << 20)) << p.why();
  }
}
// At most 4 times the operands' bytes and 64 MB, where they overlap of the range that they span. A batch that would
// need more runs in chunks.
TEST(GemmPlan, WorkspacesAreBounded) {
  auto const windows = [](DType type, std::uint64_t base, std::vector<std::int64_t> extents,
                          std::vector<std::int64_t> strides) {
    return tensor(reinterpret_cast<void*>(base), type, std::span<std::int64_t const>(extents),
                  std::span<std::int64_t const>(strides));
  };
  struct {
    std::int64_t L, M, K, of_batch, of_row, of_column, N;
    bool packs;  // in chunks
  } const cases[] = {{300, 100, 100000, 1, 1, 1, 8, false},
                     {1, 20000, 4099, 0, 1, 1, 300, false},
                     {100000, 50, 3000, 1, 3001, 1, 64, false},
                     {4096, 255, 1021, 64, 1021, 1, 127, true}};
  for (auto const& c : cases)
    for (DType type : {problem::bf16, problem::f32}) {
      SCOPED_TRACE(std::to_string(c.L) + " x " + std::to_string(c.M) + " x " + std::to_string(c.K));
      Gemm const g = make_gemm(windows(type, kA, {c.L, c.M, c.K}, {c.of_batch, c.of_row, c.of_column}),
                               windows(type, kB, {c.L, c.K, c.N}, {0, c.N, 1}),
                               windows(type, kC, {c.L, c.M, c.N}, {c.M * c.N, c.N, 1}), {}, Compute::fp32);
      Planned const p(g, true);
      ASSERT_GE(p.plan.candidate, 0);
      __int128 const operands = data_bytes(g.A) + data_bytes(g.B) + data_bytes(g.D);
      EXPECT_LE(__int128(p.plan.workspace_bytes), 4 * operands + (64 << 20)) << p.why();
      if (c.packs && type == problem::bf16) {
        EXPECT_GT(p.plan.chunks, 1);
        EXPECT_GT(p.plan.workspace_bytes, 0u);
      }
    }
}
TEST(GemmPlan, HalvesTakeTheShortestPredictedTime) {
  for (auto [M, N, K] : {std::array<std::int64_t, 3>{8192, 8192, 8192},
                         {1024, 1024, 1024},
                         {64, 4096, 8192},
                         {80, 512, 32000},
                         {4095, 4097, 333},
                         {5, 7, 9}})
    for (DType type : {problem::bf16, problem::f32}) {
      Planned const p(of_halves(M, N, K, 1, type), true);
      ASSERT_GE(p.plan.candidate, 0);
      EXPECT_GT(p.plan.seconds, 0);
      Sums const wanted = Planner<Gemm>::wanted(p.gemm, Device{}, true, candidates<Gemm>());
      for (auto const& other : candidates<Gemm>())
        if (Planner<Gemm>::applies(other, p.gemm, wanted)) {
          Attempt const a = attempt_in_chunks(other, p.gemm, Device{}, true);
          EXPECT_TRUE(a.rejected || p.plan.seconds <= a.plan.seconds) << other.kernel->name << " " << other.label;
        }
    }
}
// Few tiles and a deep K: slices of K fill the GPU, as many for a batch as for one matrix, because the bits depend on
// them.
TEST(GemmPlan, SlicesOfHalvesDoNotDependOnTheBatch) {
  for (auto [M, N, K] :
       {std::array<std::int64_t, 3>{80, 512, 32000}, {128, 704, 8192}, {256, 256, 4096}, {2048, 2048, 2048}}) {
    // Slices whose sums go to the workspace, or that a cluster adds.
    auto const slice_K = [&](std::int64_t L, bool may) {
      return Planned(of_halves(M, N, K, L), may).launch().problem.slice_K;
    };
    EXPECT_EQ(slice_K(1, true) > 0, M < 2048) << M;
    for (std::int64_t L : {2, 7, 100, 3000})
      for (bool may : {false, true}) EXPECT_EQ(slice_K(L, may), slice_K(1, may)) << L;
    Planned const without(of_halves(M, N, K), false);
    EXPECT_NE(without.chosen(), "hgemm_simple");
    EXPECT_EQ(without.launch().problem.slices, 1);
    EXPECT_EQ(without.plan.workspace_bytes, 0u);
  }
}
// Matrices of a batch begin at other addresses modulo 32 than the first.
TEST(GemmPlan, SlicesOfHalvesDoNotDependOnTheBase) {
  for (auto [M, N, K] :
       {std::array<std::int64_t, 3>{64, 512, 4096}, {136, 704, 8192}, {512, 512, 2048}, {16, 64, 1024}})
    for (bool has_workspace : {false, true}) {
      Gemm g = of_halves(M, N, K);
      model::HalfSlices const first = model::HalfSlices::choose(g, Device{}, has_workspace);
      for (Operand* o : {&g.A, &g.B, &g.D}) o->base = static_cast<char*>(o->base) + 16;
      model::HalfSlices const other = model::HalfSlices::choose(g, Device{}, has_workspace);
      EXPECT_EQ(other.count, first.count);
      EXPECT_EQ(other.K, first.K);
    }
}
// Tensor cores truncate: no kernel adds more than 2^20 indices of K there, whatever the workspace.
TEST(GemmPlan, SumsOnTensorCoresAreShort) {
  for (std::int64_t K : {std::int64_t(1) << 18, (std::int64_t(1) << 22) + 8, (std::int64_t(1) << 25) + 8})
    for (DType type : {problem::bf16, f32})
      for (bool is_aligned : {true, false})
        for (std::size_t bytes : {std::size_t(0), std::size_t(1) << 16, SIZE_MAX}) {
          Gemm g = of_halves(8, 8, K, 1, type);
          if (!is_aligned) g.A.base = static_cast<char*>(g.A.base) + 2;
          Planned const p(g, WorkspaceLimit(bytes));
          SCOPED_TRACE(p.why());
          bool const may_not = type != f32 && bytes == 0 && K > (is_aligned ? 1 << 23 : 1 << 20);
          EXPECT_EQ(p.chosen().empty(), may_not);
          EXPECT_LE(p.plan.workspace_bytes, bytes);
          std::int64_t sum_of_K = 0;
          for_each_launch(p.plan, {{g.A.base, g.B.base, g.D.base}, presumed(0)},
                          [&](auto const& launch, Operands const&) {
                            if constexpr (std::is_same_v<std::decay_t<decltype(launch)>, LaunchOf<Gemm>>) {
                              Gemm const& part = launch.problem;
                              EXPECT_LE(part.slice_K ? part.slice_K : part.K(), std::int64_t(1) << 20);
                              sum_of_K += part.K();
                            }
                          });
          EXPECT_EQ(sum_of_K, may_not ? 0 : K);
        }
}
TEST(GemmPlan, ABatchBeyondTheCoordinatesOfTmaRunsInChunks) {
  Gemm g = of_halves(8, 8, 64, 2);
  g.A.matrices = g.B.matrices = g.D.matrices = std::int64_t(1) << 32;
  Planned const p(g, true);
  EXPECT_GT(p.plan.chunks, 1);
}

TEST(GemmPlan, SaysWhy) {
  std::string const why = Planned(problem(100, 200, 30, "nt", 2, 2), false).why();
  EXPECT_EQ(
      why.find("gemm of M 100 x N 200 x K 30, batch of 2, nt, alpha 1, beta 0, one sum on H200\n"
               "  A: contiguous along k, rows 32 elements apart, matrices 3200, begins at a multiple of 16 bytes\n"
               "  B: contiguous along k, rows 30 elements apart, matrices 6000, begins at a multiple of 16 bytes\n"
               "  D: contiguous along n, rows 200 elements apart, matrices 20000, begins at a multiple of 16 bytes\n"
               "chosen: "),
      0u)
      << why;
  EXPECT_NE(why.find("sgemm_simple: "), std::string::npos) << why;
  Gemm scaled = problem(100, 200, 0);
  EXPECT_SAYS(Planned(scaled, true), "  A and B are not read\n");
  scaled.D.row_stride = 400, scaled.D.col_stride = 2;
  EXPECT_SAYS(Planned(scaled, true), "  D: strides of 400 along m and 2 along n\n");
}

}  // namespace
}  // namespace inlay::test
