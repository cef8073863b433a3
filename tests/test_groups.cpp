// Groups of rows, each by a B of its own: kernels by replay, the plans, and what is refused.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include <inlay/planner/candidate.h>
#include <inlay/registry/rounding.h>
#include "gemm_corpus.h"
#include "mutants.h"

namespace inlay::test {
namespace {
using model::Config, model::Device, planner::make_plan, registry::gemm_kernels, replay::Check, replay::Recorder;

struct GroupsCase {
  std::int64_t M, N, K;
  std::vector<std::int32_t> ends;
  bool b_along_n = false, d_along_m = false;
  DType type = bf16, type_of_D = bf16;
  Epilogue epilogue = {};
  std::int64_t gap = 0, base_d = 0;  // elements: of D's pitch, and of D from a multiple of 16 bytes
  bool a_along_m = false;

  std::string name() const {
    std::string s = std::to_string(M) + "x" + std::to_string(N) + "x" + std::to_string(K) + ", groups end at";
    for (auto const end : ends) s += " " + std::to_string(end);
    return s + (b_along_n ? ", B along n" : "") + (d_along_m ? ", D along m" : "") + ", beta " +
           std::to_string(epilogue.beta) + ", gap " + std::to_string(gap) + ", " + name_of(type) + " to " +
           name_of(type_of_D);
  }
};

// The operands of a case in the memory of a recorder.
Gemm gemm_of(GroupsCase const& c, Recorder& recorder) {
  auto const G = std::int64_t(c.ends.size()), pitch = (c.d_along_m ? c.M : c.N) + c.gap;
  auto const numbers = [&](char const* name, std::int64_t elements, DType type, unsigned seed) {
    return registry::allocate_numbers(recorder, name, std::size_t(elements), type, seed);
  };
  void *const A = numbers("A", c.M * c.K, c.type, 1), *const B = numbers("B", G * c.N * c.K, c.type, 2);
  auto* const D = static_cast<char*>(numbers("D", pitch * (c.d_along_m ? c.N : c.M) + 16, c.type_of_D, 3));
  void* const ends = recorder.allocate("ends", c.ends.size() * 4, 4, 0);
  std::memcpy(recorder.real(ends), c.ends.data(), c.ends.size() * 4);
  Tensor const b = c.b_along_n ? tensor(B, c.type, {G, c.K, c.N}) : tensor(B, c.type, {G, c.N, c.K}).transposed();
  void* const d = D + c.base_d * bytes_of(c.type_of_D);
  Tensor const out = c.d_along_m ? tensor(d, c.type_of_D, {c.N, c.M}, {pitch, 1}).transposed()
                                 : tensor(d, c.type_of_D, {c.M, c.N}, {pitch, 1});
  Tensor const a = c.a_along_m ? tensor(A, c.type, {c.K, c.M}).transposed() : tensor(A, c.type, {c.M, c.K});
  return make_grouped_gemm(a, b, out, {static_cast<std::int32_t const*>(ends), c.ends.size()}, c.epilogue);
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

std::string chosen_for(GroupsCase const& c, int compute_capability = 90);

// Groups of no row, of one, of parts of a tile, of whole tiles and more; behind one another whole and partial tiles
// change, which are stored in different ways. Ends that descend or lie behind the last row are clamped.
std::vector<GroupsCase> cases() {
  return {
      {300, 64, 64, {0, 1, 130, 258, 258, 299}},
      {512, 256, 128, {128, 256, 300, 428, 512}},
      {512, 256, 128, {100, 228, 356, 484}, true},
      {130, 136, 72, {130}},
      {40, 264, 200, {1, 2, 3, 20, 20, 39}, true, false, f16, f16, {2, -1}},
      {260, 72, 64, {90, 80, 1000, 12}, false, false, bf16, f32},
      {384, 128, 64, {128, 192, 320, 384}, false, true},
      {384, 128, 64, {54, 182, 192, 320}, false, true},  // whole tiles along m that begin within 16 bytes
      {384, 72, 64, {130, 260}, true, true, bf16, bf16, {1, 1, Activation::relu}, 3},
      {256, 67, 64, {70, 200}, false, false, bf16, bf16, {1, 1}, 2, 1},
      {64, 64, 8, {0, 0, 0}},
  };
}

TEST(Groups, RingIsRight) {
  for (int tile : {1, 2})
    for (GroupsCase const& c : cases()) expect_right("hgemm_groups", {.tile = tile}, c);
}
TEST(Groups, MmaIsRight) {
  for (int tile : {1, 2})
    for (GroupsCase c : cases()) {
      expect_right("hgemm_mma", {.tile = tile}, c);
      c.K = c.K - 3, c.N = c.N - 1;
      expect_right("hgemm_mma", {.tile = tile}, c);
    }
}
// Groups begin within vectors of 16 bytes, where A is contiguous along m.
TEST(Groups, AAlongM) {
  for (GroupsCase c : cases()) {
    c.a_along_m = true;
    expect_right("hgemm_mma", {.tile = 1}, c);
  }
  EXPECT_EQ(chosen_for({512, 256, 128, {128, 256}, false, false, bf16, bf16, {}, 0, 0, true}), "hgemm_mma");
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

std::string chosen_for(GroupsCase const& c, int compute_capability) {
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
  Recorder recorder;
  Gemm gemm = gemm_of({512, 256, 128, {512}}, recorder);
  gemm.groups = 0, gemm.group_ends = nullptr;
  EXPECT_NE(make_plan(gemm, Device{}, true).find<Gemm>()->kernel->name, std::string("hgemm_groups"));
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
