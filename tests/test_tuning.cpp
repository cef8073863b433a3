// Tuned choices: what is timed, how a choice becomes a plan again, and their file.
#include <gtest/gtest.h>

#include <inlay/planner/candidate.h>
#include <inlay/planner/tuning_table.h>
#include <inlay/version.h>

#include <cstdio>
#include <fstream>
#include <set>
#include <string>
#include <string_view>

namespace inlay::planner {
namespace {

void* at(std::uintptr_t address) { return reinterpret_cast<void*>(address); }
Copy cube(std::int64_t n = 96) {
  ConstTensor const src = tensor(static_cast<void const*>(at(0x40000000)), b16, {n, 50, 70});
  return make_copy(tensor(at(0x10000000), b16, {70, 50, n}), src.permuted({2, 1, 0}));
}
Gemm square(std::int64_t n = 512) {
  return make_gemm(matrix(at(0x10000000), f32, n, n), matrix(at(0x20000000), f32, n, n),
                   matrix(at(0x30000000), f32, n, n), {}, Compute::fp32);
}
struct File {
  std::string path = testing::TempDir() + "inlay_tuning.jsonl";
  explicit File(std::string const& text = "") { std::ofstream(path) << text; }
  ~File() { std::remove(path.c_str()); }
};
std::string error_of_loading(std::string const& text) {
  File const file(text);
  TuningTable table;
  try {
    table.load(file.path);
  } catch (Error const& e) {
    EXPECT_TRUE(table.is_empty());
    return std::string(e.what()).substr(file.path.size());
  }
  return "none";
}

// Every plan that would be timed is made again from its choice.
TEST(Tuning, AChoiceGivesItsPlan) {
  auto const plans = plans_to_time(cube(), Device{});
  ASSERT_EQ(plans.size(), 14u);
  for (Plan const& plan : plans) {
    Choice const choice = choice_of<Copy>(plan, 12.5);
    Plan const again = plan_of(choice, cube(), Device{}, false);
    ASSERT_EQ(again.candidate, plan.candidate);
    EXPECT_EQ(again.seconds, plan.seconds);
    EXPECT_EQ(again.tuned_us, 12.5);
  }
  auto const gemms = plans_to_time(square(), Device{}, true);
  ASSERT_GT(gemms.size(), 3u);
  EXPECT_EQ(gemms[0].candidate, make_plan(square(), Device{}, true).candidate);
  for (Plan const& plan : gemms)
    EXPECT_EQ(plan_of(choice_of<Gemm>(plan, 1), square(), Device{}, true).candidate, plan.candidate);
}
// Slices are timed for those who ask for them, and a packed B by the kernel that it was packed for.
TEST(Tuning, SlicesAreForThoseWhoAskForThem) {
  using Names = std::set<std::string_view>;
  Names const all = {"sgemm_split_fast", "sgemm_split_safe", "sgemm_split_unpacked"};
  auto const slices_of = [&](Compute compute, void* packed_B) {
    Gemm g = square(1024);
    g.compute = compute, g.B.packed = packed_B;
    Names names;
    for (Plan const& plan : plans_to_time(g, Device{}, true)) {
      std::string_view const name = candidates<Gemm>()[std::size_t(plan.candidate)].kernel->name;
      if (all.contains(name)) names.insert(name);
    }
    return names;
  };
  void* const packed = at(0x50000000);
  EXPECT_EQ(slices_of(Compute::fp32, nullptr), Names{});
  EXPECT_EQ(slices_of(Compute::split_fast, nullptr), all);
  EXPECT_EQ(slices_of(Compute::split_fast, packed), (Names{"sgemm_split_fast", "sgemm_split_unpacked"}));
  EXPECT_EQ(slices_of(Compute::split_safe, packed), (Names{"sgemm_split_safe", "sgemm_split_unpacked"}));
  Choice const choice{"sgemm_split_safe", ""};
  EXPECT_LT(plan_of(choice, square(1024), Device{}, true).candidate, 0);
}

TEST(Tuning, WhySaysSo) {
  Plan const plan = plan_of({.kernel = "copy_direct", .label = "", .us = 3.25}, cube(), Device{}, false);
  std::string const text = why(plan, cube(), Device{}, false);
  EXPECT_NE(text.find("chosen: copy_direct"), std::string::npos) << text;
  EXPECT_NE(text.find("tuned: it took 3.25 us when it was measured, the least"), std::string::npos) << text;
  EXPECT_NE(text.find("; not compared: the choice was tuned"), std::string::npos) << text;
}
// A choice from a file may name anything.
TEST(Tuning, WhatDoesNotFitIsNoPlan) {
  auto const tiled = [](Tiling const& tiling) {
    return plan_of({.kernel = "copy_tiled_16k", .label = "", .config = {tiling}, .us = 1}, cube(), Device{}, false)
        .candidate;
  };
  Tiling tiling;
  tiling.modes = 2, tiling.run_modes = 1;
  tiling.tiled[0] = {0, 32}, tiling.tiled[1] = {2, 32};
  EXPECT_GE(tiled(tiling), 0);
  auto const changed = [&](auto change) {
    Tiling t = tiling;
    change(t);
    return tiled(t);
  };
  EXPECT_EQ(changed([](Tiling& t) { t.tiled[1].mode = 9; }), -1);
  EXPECT_EQ(changed([](Tiling& t) { t.tiled[1].mode = 0; }), -1);
  EXPECT_EQ(changed([](Tiling& t) { t.tiled[0].extent = 1000; }), -1);
  EXPECT_EQ(changed([](Tiling& t) { t.tiled[0].extent = 0; }), -1);
  EXPECT_EQ(changed([](Tiling& t) { t.run_modes = 3; }), -1);
  EXPECT_EQ(changed([](Tiling& t) { t.lanes = 12; }), -1);
  EXPECT_EQ(changed([](Tiling& t) { t.run_splits = 5; }), -1);
  EXPECT_EQ(changed([](Tiling& t) { t.modes = -1; }), -1);
  EXPECT_EQ(plan_of({.kernel = "no_kernel", .label = "", .us = 1}, cube(), Device{}, false).candidate, -1);
  EXPECT_EQ(plan_of({.kernel = "transpose_registers", .label = "", .us = 1}, cube(), Device{}, false).candidate, -1);
}
TEST(Tuning, KeysAreProblemsOnAGpu) {
  Device other;
  other.name = "H100-SXM";
  Device second;
  second.id = 1;
  EXPECT_EQ(TuningKey(cube(), Device{}, false), TuningKey(cube(), second, false));
  EXPECT_NE(TuningKey(cube(), Device{}, false), TuningKey(cube(), other, false));
  EXPECT_NE(TuningKey(cube(), Device{}, false), TuningKey(cube(97), Device{}, false));
  EXPECT_NE(TuningKey(square(), Device{}, false), TuningKey(square(), Device{}, true));
}
TEST(Tuning, FilesKeepChoices) {
  TuningTable table;
  std::vector<Plan> const plans = plans_to_time(cube(), Device{});
  Choice const tiled = choice_of<Copy>(plans[0], 12.25),
               gemm = choice_of<Gemm>(make_plan(square(), Device{}, true), 80);
  table.add({cube(), Device{}, false}, tiled);
  table.add({square(), Device{}, true}, gemm);
  File const file;
  table.save(file.path);
  TuningTable read;
  EXPECT_TRUE(read.is_empty());
  EXPECT_EQ(read.load(file.path), 2u);
  EXPECT_FALSE(read.is_empty());
  auto const found = read.find({cube(), Device{}, false});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->kernel, tiled.kernel);
  EXPECT_EQ(found->us, 12.25);
  EXPECT_EQ(plan_of(*found, cube(), Device{}, false).seconds, plans[0].seconds);
  EXPECT_EQ(read.find({square(), Device{}, true})->label, gemm.label);
  EXPECT_FALSE(read.find({square(), Device{}, false}));
  read.clear();
  EXPECT_TRUE(read.is_empty());
  EXPECT_FALSE(read.find({cube(), Device{}, false}));
}
TEST(Tuning, FilesThatAreNoneAreRefused) {
  std::string const known = std::string("{\"inlay\":\"") + version() + "\",";
  EXPECT_EQ(error_of_loading("\n{\"inlay\":\"0.0.0\"}\n"), "none");  // of another version
  EXPECT_TRUE(error_of_loading("{\"inlay\":\"0.0.0\"}\nwords\n").starts_with(", line 2 is no tuned choice: "))
      << "words";
  EXPECT_TRUE(error_of_loading("{}").starts_with(", line 1 is no tuned choice: "));
  EXPECT_TRUE(
      error_of_loading(known + "\"gpu\":\"H200\",\"kernel\":\"x\",\"label\":\"\",\"us\":\"soon\",\"problem\":[1]}")
          .starts_with(", line 1 is no tuned choice: "));
  EXPECT_EQ(error_of_loading(known + "\"gpu\":\"H200\",\"kernel\":\"x\",\"label\":\"\",\"us\":-1,\"problem\":[1]}"),
            ", line 1 is no tuned choice: 'us' is no time");
  EXPECT_EQ(
      error_of_loading(known + "\"gpu\":\"H200\",\"kernel\":\"x\",\"label\":\"\",\"us\":1,\"problem\":[1],\"tiling\":"
                               "{\"modes\":[1,2],\"extents\":[3]}}"),
      ", line 1 is no tuned choice: 'tiling' has 2 modes and 1 extents");
  TuningTable table;
  EXPECT_THROW(table.load(testing::TempDir()), Error);
  EXPECT_THROW(table.load("/no/such/file"), Error);
  EXPECT_THROW(table.save("/no/such/file"), Error);
}

}  // namespace
}  // namespace inlay::planner
