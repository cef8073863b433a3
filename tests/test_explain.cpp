// What `inlay explain` says, against what was measured: counts by hand, times of the H200 that are recorded, times that
// others published of GPUs that are not here.
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <map>
#include <set>

#include "explain.h"
#include "results.h"
#include "variants.h"

namespace inlay::lab {
namespace {

Gpu const& h200() { return *find_gpu("H200"); }
Case square(std::int64_t n) { return {n, n, 1, 4}; }

double predicted_ms(std::string const& variant, Problem const& problem, Gpu const& gpu) {
  return 1e3 * std::visit([&](auto const& c) { return explain_variant(variant, c, gpu).seconds; }, problem);
}

// No access to global memory takes more than twice the sectors that its bytes need.
bool coalesced(Explanation const& x) {
  for (ExplainedSite const& s : x.sites)
    if (s.site.space == replay::Space::global && s.site.mechanism != Mechanism::tma &&
        s.site.traffic.transactions > 2 * s.site.ideal)
      return false;
  return true;
}

struct Judged {
  std::string variant;
  double measured, predicted;  // milliseconds
  bool coalesced;
};
// The steps that are recorded ok for a problem.
std::vector<Judged> judged(Results const& results, Problem const& problem) {
  std::vector<Judged> all;
  auto const add = [&](std::string const& name) {
    Row const* const row = results.find(problem, name);
    if (!row || !row->ms_median) return;
    Explanation const x = std::visit([&](auto const& c) { return explain_variant(name, c, h200()); }, problem);
    all.push_back({name, *row->ms_median, 1e3 * x.seconds, coalesced(x)});
  };
  if (std::holds_alternative<Case>(problem))
    for (auto const& name : variant_names<Move>()) add(name);
  else
    for (auto const& entry : gemm_variants()) add(entry.info().name);
  return all;
}
void expect_near(std::vector<Judged> const& all) {
  ASSERT_GE(all.size(), 1u);
  for (Judged const& j : all)
    if (j.coalesced && j.variant.find("naive") == std::string::npos) {
      EXPECT_LT(std::abs(j.predicted / j.measured - 1), .15) << j.variant << " " << j.predicted;
    }
}

TEST(Explain, TimesOfTransposesAreThoseRecorded) {
  auto const all = judged(load_recorded().ours, square(32768));
  EXPECT_GE(all.size(), 20u);
  expect_near(all);
}
TEST(Explain, TimesOfProductsAreThoseRecorded) {
  auto const products = load_recorded().products;
  std::set<std::string> steps;
  for (char const* layout : {"nn", "nt", "tn"}) {
    auto const all = judged(products, product_of(4096, 4096, 4096, layout));
    expect_near(all);
    for (Judged const& j : all) steps.insert(j.variant);
  }
  EXPECT_EQ(steps.size(), gemm_variants().size());  // each at every layout that it takes
}

// Sizes where latencies count: most are near. The furthest are products whose blocks wait for each other.
void expect_roughly(char const* file, double share) {
  auto const results = load_results(results_dir() / "h200" / file);
  ASSERT_TRUE(results);
  int n = 0, near = 0;
  for (Row const& row : results->rows) {
    bool const ours = row.variant.starts_with("sgemm_") || row.variant.starts_with("transpose_");
    if (!ours || !row.ms_median || row.variant.find("naive") != std::string::npos) continue;
    double const off = predicted_ms(row.variant, row.measured, h200()) / *row.ms_median - 1;
    ++n, near += std::abs(off) < .25;
  }
  EXPECT_GE(n, 200);
  EXPECT_GE(near, share * n) << near << " of " << n;
}
TEST(Explain, TimesOfSmallTransposes) { expect_roughly("small.json", .9); }
TEST(Explain, TimesOfSmallProducts) { expect_roughly("small_products.json", .7); }

TEST(Explain, SmallProblemsWait) {
  EXPECT_EQ(explain_variant("transpose_06_smem_swizzled", square(64), h200()).limit, "launch");
  EXPECT_EQ(explain_variant("transpose_18_few_rows", square(64), h200()).limit, "latency");  // a row at a time
}

// A grid that is as large as the GPU is that of the GPU which was asked for.
TEST(Explain, GridsAreThoseOfTheDevice) {
  auto const blocks = [](char const* gpu) {
    return explain_variant("sgemm_11_rotated", product_of(8192, 8192, 64, "tn"), *find_gpu(gpu))
        .launches.front()
        .blocks;
  };
  EXPECT_EQ(blocks("H200"), 132);
  EXPECT_EQ(blocks("H100-PCIe"), 114);
}

// A conflict of 32 doubles the time where the DRAM is fast beside the multiprocessors, and hardly matters where it is
// slow.
TEST(Explain, WhyConflictsMatterOnOneGpuAndNotOnAnother) {
  auto const slower = [](char const* gpu, std::int64_t n) {
    return predicted_ms("transpose_03_smem_read_conflict", square(n), *find_gpu(gpu)) /
           predicted_ms("transpose_06_smem_swizzled", square(n), *find_gpu(gpu));
  };
  EXPECT_GT(slower("H200", 32768), 2.);
  EXPECT_GT(slower("H100-PCIe", 32768), 1.3);
  EXPECT_LT(slower("RTX-3090", 16384), 1.15);
}

TEST(Explain, PublishedTimesOfOtherGpus) {
  std::map<std::string, char const*> const known{{"H100 PCIe", "H100-PCIe"}, {"RTX 3090", "RTX-3090"}};
  int rows = 0;
  for (Published const& p : load_published()) {
    auto const gpu = known.find(p.device);
    if (gpu == known.end() || !p.ms || !p.measured || p.variant.starts_with("torch")) continue;
    bool const naive = p.variant == "transpose_01_naive_read" || p.variant == "transpose_02_naive_write";
    double const off = predicted_ms(p.variant, *p.measured, *find_gpu(gpu->second)) / *p.ms - 1;
    ++rows;
    RecordProperty(p.variant + " on " + p.device, std::to_string(off));
    if (!naive) {
      EXPECT_LT(std::abs(off), .15) << p.variant << " on " << p.device;
    }
  }
  EXPECT_GE(rows, 14);
}

TEST(Explain, AnySizeInTwoSeconds) {
  for (auto const& name : {"transpose_15_odd_pitch", "copy_01_scalar", "transpose_12_register_tile"})
    for (std::int64_t n : {32768, 65536}) {
      auto const begin = std::chrono::steady_clock::now();
      explain_variant(name, Case{n, n, 1, 1}, h200());
      EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(2)) << name;
    }
  for (auto const& entry : gemm_variants()) {
    auto const begin = std::chrono::steady_clock::now();
    explain_variant(entry.info().name, product_of(16384, 16384, 16384, shown_layout(entry.info())), h200());
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(2)) << entry.info().name;
  }
}

TEST(Explain, SaysWhatToChange) {
  Explanation const x = explain_variant("transpose_03_smem_read_conflict", square(4096), h200());
  EXPECT_EQ(x.limit, "L1");
  EXPECT_NE(x.advice().find("32 words in bank"), std::string::npos) << x.advice();
  EXPECT_NE(x.advice().find("Swizzle<5,0,6>"), std::string::npos) << x.advice();
  Explanation const y = explain_variant("transpose_01_naive_read", square(4096), h200());
  EXPECT_NE(y.advice().find("32 sectors where 4 would do"), std::string::npos) << y.advice();
}

}  // namespace
}  // namespace inlay::lab
