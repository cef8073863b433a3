// Groups of rows, each by a B of its own: kernels by replay, the plans, and what is refused.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include <inlay/planner/candidate.h>
#include <inlay/registry/rounding.h>
#include "groups_corpus.h"
#include "mutants.h"

namespace inlay::test {
namespace {
using model::Config, model::Device, planner::make_plan, registry::gemm_kernels, replay::Check, replay::Recorder;

// The operands of a case in the memory of a recorder.
Gemm gemm_of(GroupsCase const& c, Recorder& recorder) {
  auto const numbers = [&](char const* name, std::int64_t elements, DType type, unsigned seed) {
    return registry::allocate_numbers(recorder, name, std::size_t(elements), type, seed);
  };
  void *const A = numbers("A", c.base + c.M * c.K, c.type, 1),
              *const B = numbers("B", c.groups() * c.N * c.K, c.type, 2),
              *const D = numbers("D", c.elements_of_D() + 16, c.type_of_D, 3),
              *const ends = recorder.allocate("ends", c.ends.size() * 4, 4, 0);
  std::memcpy(recorder.real(ends), c.ends.data(), c.ends.size() * 4);
  return make_grouped_gemm(c.A(A), c.B(B), c.D(D), {static_cast<std::int32_t const*>(ends), c.ends.size()}, c.epilogue);
}

// One multiprocessor: a block has several tiles, of several groups.
Device small_device(int multiprocessors = 1) {
  Device device;
  device.sm_count = multiprocessors;
  return device;
}
void expect_right(char const* kernel, Config const& config, GroupsCase const& c) {
  SCOPED_TRACE(std::string(kernel) + ", tile " + std::to_string(config.tile) + ": " + c.name());
  Recorder recorder;
  Gemm const gemm = gemm_of(c, recorder);
  auto const& entry = entry_named(gemm_kernels(), kernel);
  model::Reason const rejected = entry.info().rejects(gemm, small_device(), config);
  ASSERT_FALSE(rejected) << rejected.sentence();
  entry.replay(gemm, small_device(2), recorder, config);
  expect_only(recorder, {});
}

TEST(Groups, RingIsRight) {
  for (int tile : {1, 2})
    for (GroupsCase const& c : groups_corpus()) expect_right("hgemm_groups", {.tile = tile}, c);
}
TEST(Groups, MmaIsRight) {
  for (int tile : {1, 2})
    for (GroupsCase c : groups_corpus()) {
      expect_right("hgemm_mma", {.tile = tile}, c);
      c.K = c.K - 3, c.N = c.N - 1, c.base = 1;
      expect_right("hgemm_mma", {.tile = tile}, c);
    }
}
// Groups begin within vectors of 16 bytes, where A is contiguous along m.
TEST(Groups, AAlongM) {
  for (GroupsCase c : groups_corpus()) {
    c.a_along_m = true;
    expect_right("hgemm_mma", {.tile = 1}, c);
  }
}
TEST(Groups, NothingIsMultiplied) {
  for (float alpha : {0.f, 1.f}) {
    GroupsCase c{100, 40, alpha == 0 ? 64 : 0, {30, 70}, false, false, bf16, bf16, {alpha, 2}};
    expect_right("hgemm_mma", {.tile = 1}, c);
  }
}

// ---- flaws

// TMA stores, then ordinary ones, of the same shared tile, and the other way round.
struct NoStoreWait : Changed {
  using Changed::Changed;
  void tma_store_wait_read(int) override {}
};
struct NoWarpgroupBarrier : Changed {
  using Changed::Changed;
  using Changed::sync;
  void sync(int, unsigned, std::source_location) override {}
};
template <class Mutant>
void expect_race(GroupsCase const& c) {
  auto const recorder = recorder_with<Mutant>(Change{});
  Gemm const gemm = gemm_of(c, *recorder);
  entry_named(gemm_kernels(), "hgemm_groups").replay(gemm, small_device(), *recorder, {.tile = 2});
  EXPECT_TRUE(recorder->found(Check::race));
}
TEST(Groups, FlawsAreFound) {
  GroupsCase const whole_first{256, 128, 64, {128, 200}}, partial_first{256, 128, 64, {60, 188}};
  expect_race<NoStoreWait>(whole_first);
  expect_race<NoWarpgroupBarrier>(whole_first);
  expect_race<NoWarpgroupBarrier>(partial_first);
}

// ---- plans

std::string chosen_for(GroupsCase const& c, int compute_capability = 90) {
  Recorder recorder;
  Gemm const gemm = gemm_of(c, recorder);
  Device device;
  device.compute_capability = compute_capability;
  planner::Plan const plan = make_plan(gemm, device, true);
  if (plan.candidate < 0) return "none";
  EXPECT_EQ(plan.num_launches, 1);
  EXPECT_EQ(plan.workspace_bytes, 0u);
  auto const* const launch = plan.find<Gemm>();
  EXPECT_TRUE(planner::at(*launch, {{gemm.A.base, gemm.B.base, gemm.D.base, nullptr, nullptr,
                                     const_cast<std::int32_t*>(gemm.group_ends)},
                                    nullptr})
                  .group_ends == gemm.group_ends);
  return launch->kernel->name;
}
TEST(Groups, Plans) {
  GroupsCase const aligned{512, 256, 128, {128, 256}};
  EXPECT_EQ(chosen_for(aligned), "hgemm_groups");
  EXPECT_EQ(chosen_for(aligned, 80), "hgemm_mma");
  EXPECT_EQ(chosen_for({512, 256, 127, {128, 256}}), "hgemm_mma");
  EXPECT_EQ(chosen_for({512, 256, 0, {128, 256}}), "hgemm_mma");
  GroupsCase along_m = aligned;
  along_m.a_along_m = true;
  EXPECT_EQ(chosen_for(along_m), "hgemm_mma");
  Recorder recorder;
  Gemm gemm = gemm_of({512, 256, 128, {512}}, recorder);
  gemm.groups = 0, gemm.group_ends = nullptr;
  EXPECT_NE(make_plan(gemm, Device{}, true).find<Gemm>()->kernel->name, std::string("hgemm_groups"));
}
TEST(Groups, ALongSumIsRefused) {
  Gemm g;
  {
    Recorder recorder;
    g = gemm_of({64, 64, 64, {64}}, recorder);
  }
  g = g.with_K((std::int64_t(1) << 20) + 8);
  g.A.row_stride = g.B.row_stride = g.K();
  planner::Plan const plan = make_plan(g, Device{}, false);
  EXPECT_EQ(plan.candidate, -1);
  std::string const why = planner::why(plan, g, Device{}, false);
  EXPECT_EQ(why.find("gemm of M 64 x N 64 x K 1048584, 1 groups of rows, bf16, nt"), 0u) << why;
  EXPECT_NE(why.find("at most 1048576 keep 8 bits"), std::string::npos) << why;
  EXPECT_EQ(why.find("in parts"), std::string::npos) << why;
}
// Only kernels that say so take groups.
TEST(Groups, OthersRefuse) {
  Recorder recorder;
  Gemm const gemm = gemm_of({512, 256, 128, {128, 256}}, recorder);
  for (auto const& entry : gemm_kernels())
    EXPECT_EQ(bool(entry.info().rejects(gemm, Device{}, {})), !entry.info().takes_groups) << entry.info().name;
}

TEST(Groups, BadInput) {
  std::int32_t ends[2] = {1, 2};
  char memory[4096];
  auto const at = [&](std::size_t offset) { return static_cast<void*>(memory + offset); };
  auto const refused = [&](Tensor const& a, Tensor const& b, Tensor const& d, std::span<std::int32_t const> e) {
    try {
      make_grouped_gemm(a, b, d, e, {});
    } catch (Error const& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  Tensor const a = tensor(at(0), bf16, {4, 8}), b = tensor(at(256), bf16, {2, 8, 8}),
               d = tensor(at(1024), bf16, {4, 8});
  EXPECT_EQ(refused(a, b, d, ends), "");
  EXPECT_EQ(refused(a, tensor(at(256), bf16, {8, 8}), d, ends),
            "A has rank 2, B 2 and D 2; grouped_gemm takes A and D of rank 2, and B of rank 3");
  EXPECT_EQ(refused(a, b, d, std::span(ends, 1)), "B of shape (2,8,8) has matrices for 2 groups, and 1 ends are given");
  EXPECT_EQ(refused(tensor(at(0), f32, {4, 8}), tensor(at(256), f32, {2, 8, 8}), tensor(at(1024), f32, {4, 8}), ends),
            "B has elements of type f32; grouped_gemm takes bf16 and f16");
  EXPECT_EQ(refused(a, tensor(at(256), bf16, {2, 9, 8}), d, ends),
            "A of shape (4,8) and B of shape (9,8) do not match: K is 8 in A and 9 in B");
  EXPECT_EQ(refused(a, b, tensor(at(384), bf16, {4, 8}), ends),
            "D of shape (4,8) overlaps B of shape (2,8,8) in memory");
  EXPECT_EQ(refused(a, b, d, {static_cast<std::int32_t const*>(nullptr), 2}),
            "the ends of the groups are a null pointer");
  EXPECT_EQ(refused(a, b, d, {static_cast<std::int32_t const*>(at(1024)), 2}),
            "D of shape (4,8) overlaps the ends of the groups in memory");
}

}  // namespace
}  // namespace inlay::test
