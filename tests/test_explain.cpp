// What `inlay explain` says, against what was measured: counts by hand, times of the H200 that are recorded, times that
// others published of GPUs that are not here.
#include <gtest/gtest.h>

#include <inlay/explain/cure.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <regex>
#include <set>

#include "explain/explain.h"
#include "long_tests.h"
#include "problems/kernels.h"
#include "problems/shown_case.h"
#include "results/results.h"
#include "usage_error.h"

namespace inlay::lab {
namespace {

using explain::cure_of, explain::ExplainedSite, replay::Mechanism, replay::Site;

Device const& h200() { return *find_device("H200"); }
CopyCase square(std::int64_t n) { return transpose_case(n, n); }

double predicted_ms(std::string const& kernel, Problem const& problem, Device const& gpu) {
  return 1e3 * explain_kernel(kernel, problem, gpu).seconds;
}

struct Judged {
  std::string kernel;
  double measured, predicted;  // milliseconds
  bool doubted;                // the explanation itself says that it may be far off
};
// The steps that are recorded ok for a problem.
std::vector<Judged> check_result(Results const& results, Problem const& problem) {
  std::vector<Judged> all;
  auto const add = [&](std::string const& name) {
    Row const* const row = results.find(problem, name);
    if (!row || !row->ms_median) return;
    Explanation const x = explain_kernel(name, problem, h200());
    all.push_back({name, *row->ms_median, 1e3 * x.seconds, !x.doubt().empty()});
  };
  if (is_a<CopyCase>(problem))
    for (auto const& name : kernel_names<CopyCase>()) add(name);
  else
    for (auto const& entry : gemm_kernels()) add(entry.info().name);
  return all;
}
// But for as many as the explanation doubts.
void expect_near(std::vector<Judged> const& all, std::size_t doubted) {
  ASSERT_GT(all.size(), doubted);
  EXPECT_EQ(std::size_t(std::count_if(all.begin(), all.end(), [](Judged const& j) { return j.doubted; })), doubted);
  for (Judged const& j : all)
    if (!j.doubted) {
      EXPECT_LT(std::abs(j.predicted / j.measured - 1), .15) << j.kernel << " " << j.predicted;
    }
}

TEST(Explain, TimesOfTransposesAreThoseRecorded) {
  auto const all = check_result(load_recorded().ours, square(32768));
  EXPECT_GE(all.size(), 20u);
  expect_near(all, 2);  // the naive ones
}
TEST(Explain, TimesOfGemmsAreThoseRecorded) {
  auto const gemms = load_recorded().gemms;
  std::set<std::string> steps;
  for (char const* layout : {"nn", "nt", "tn"}) {
    auto const all = check_result(gemms, gemm_case(4096, 4096, 4096, layout));
    expect_near(all, 1);  // the naive one
    for (Judged const& j : all) steps.insert(j.kernel);
  }
  // Each at every layout that it takes; three kernels of the library have the code of a step, three are not for
  // squares, and three slice their operands. The ladder of slices is recorded in another file.
  auto const in_f32 = std::count_if(gemm_kernels().begin(), gemm_kernels().end(), [](auto const& entry) {
    return takes_type(entry.info(), f32) && entry.info().ladder != model::Ladder::sgemm_tc;
  });
  EXPECT_EQ(steps.size() + 10, std::size_t(in_f32));
}

// Sizes where latencies count: most are near. The furthest are GEMMs whose blocks wait for each other. A short test
// takes one of `step` rows.
void expect_roughly(char const* file, int rows, double share, int step = 1) {
  auto const results = load_results(results_dir() / "h200" / file);
  ASSERT_TRUE(results);
  if (test::runs_long_tests()) step = 1;
  int number = 0, n = 0, near = 0;
  for (Row const& row : results->rows) {
    bool const ours = row.kernel.starts_with("sgemm_") || row.kernel.starts_with("transpose_");
    auto const* const copy = std::get_if<CopyCase>(&row.measured);
    if (copy && !test::takes_elements_of(row.kernel, copy->elem_bytes))
      continue;  // recorded when the steps had other sizes
    if (!ours || !row.ms_median || row.kernel.find("naive") != std::string::npos || number++ % step) continue;
    double const off = predicted_ms(row.kernel, row.measured, h200()) / *row.ms_median - 1;
    ++n, near += std::abs(off) < .25;
  }
  EXPECT_EQ(number, rows);
  EXPECT_GE(near, share * n) << near << " of " << n;
}
TEST(Explain, TimesOfSmallTransposes) { expect_roughly("small.json", 155, .9); }
TEST(Explain, TimesOfSmallGemms) { expect_roughly("small_gemms.json", 392, .7, 16); }

TEST(Explain, SmallProblemsWait) {
  EXPECT_EQ(explain_kernel("transpose_06_smem_swizzled", square(64), h200()).limit, "launch");
}

// A grid that is as large as the GPU is that of the GPU which was asked for.
TEST(Explain, GridsAreThoseOfTheDevice) {
  auto const blocks = [](char const* gpu) {
    return explain_kernel("sgemm_tma", gemm_case(8192, 8192, 64, "tn"), *find_device(gpu))
        .demand.launches.front()
        .blocks;
  };
  EXPECT_EQ(blocks("H200"), 132);
  EXPECT_EQ(blocks("H100-PCIe"), 114);
}

// A conflict of 32 doubles the time where the DRAM is fast beside the multiprocessors, and hardly matters where it is
// slow.
TEST(Explain, WhyConflictsMatterOnOneGpuAndNotOnAnother) {
  auto const slower = [](char const* gpu, std::int64_t n) {
    return predicted_ms("transpose_03_smem_read_conflict", square(n), *find_device(gpu)) /
           predicted_ms("transpose_06_smem_swizzled", square(n), *find_device(gpu));
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
    if (gpu == known.end() || !p.ms || !p.measured || p.kernel.starts_with("torch")) continue;
    bool const naive = p.kernel == "transpose_01_naive_read" || p.kernel == "transpose_02_naive_write";
    double const off = predicted_ms(p.kernel, *p.measured, *find_device(gpu->second)) / *p.ms - 1;
    ++rows;
    RecordProperty(p.kernel + " on " + p.device, std::to_string(off));
    if (!naive) {
      EXPECT_LT(std::abs(off), .15) << p.kernel << " on " << p.device;
    }
  }
  EXPECT_GE(rows, 14);
}

// What a sampled replay of a problem does: its threads, and all that happens to them.
struct Replayed {
  std::int64_t threads = 0, events = 0;
  std::int64_t launched = 0;  // threads of a replay of all blocks
};
template <class P>
void watch_sample(Entry<P> const& entry, P const& problem, Recorder& recorder, Replayed& seen) {
  recorder.watch([&](replay::TraceEvent const& e) { ++seen.events, seen.threads += e.what == replay::Happens::end; });
  entry.sample(problem, h200(), recorder);
  EXPECT_EQ(recorder.finding_count, 0) << entry.info().name;
  for (replay::RecordedLaunch const& l : recorder.launches) seen.launched += l.blocks * l.threads;
}
Replayed replayed(Entry<Copy> const& entry, CopyCase const& c) {
  Recorder recorder;
  auto const buffer = [&](char const* name, std::int64_t elements) {
    return recorder.reserve(name, std::size_t(elements * c.elem_bytes), c.elem_bytes);
  };
  void *const in = buffer("in", c.rows() * c.cols()), *const out = buffer("out", c.rows() * c.cols());
  Replayed seen;
  Copy const copy = c.canonical({in, out}, &entry.info());
  if (!entry.info().rejects(copy, h200())) watch_sample(entry, copy, recorder, seen);
  return seen;
}
Replayed replayed(Entry<Gemm> const& entry, GemmCase const& c) {
  Recorder recorder;
  auto const operand = [&](char const* name, Stored const& x) {
    return static_cast<float*>(recorder.reserve(name, std::size_t(x.elements()) * sizeof(float), sizeof(float)));
  };
  Gemm const gemm =
      c.canonical({c.alpha, c.beta, operand("A", c.a()), operand("B", c.b()), operand("D", c.d())}, nullptr);
  recorder.reserve_workspace(entry.info().workspace(gemm, h200()));
  Replayed seen;
  watch_sample(entry, gemm, recorder, seen);
  return seen;
}

// Whatever the size, a few blocks: a replay of all would make hundreds of times as much happen.
void expect_a_few_blocks(Replayed const& seen) {
  EXPECT_GT(seen.threads, 0);
  EXPECT_LE(seen.threads, 20000);
  EXPECT_LE(seen.events, 20'000'000);
  EXPECT_LT(seen.threads, seen.launched / 10);
}
TEST(Explain, AnySizeFromAFewBlocks) {
  int ran = 0;
  for (auto const& entry : copy_kernels())
    for (std::int64_t n : {65536, 32768}) {
      if (n == 32768 && !test::runs_long_tests()) continue;
      SCOPED_TRACE(entry.info().name + (" " + std::to_string(n)));
      Replayed const seen =
          replayed(entry, transpose_case(n, n, 1, test::takes_elements_of(entry.info().name, 1) ? 1 : 4));
      if (seen.launched == 0) continue;  // rejected
      ++ran, expect_a_few_blocks(seen);
    }
  EXPECT_GE(ran, test::runs_long_tests() ? 40 : 20);
  for (auto const& entry : gemm_kernels()) {
    SCOPED_TRACE(entry.info().name);
    expect_a_few_blocks(replayed(entry, shown_case(entry.info(), 16384, 16384, 16384)));
  }
}

TEST(Explain, SaysWhatToChange) {
  Explanation const x = explain_kernel("transpose_03_smem_read_conflict", square(4096), h200());
  EXPECT_EQ(x.limit, "L1");
  EXPECT_NE(x.advice().find("32 words in bank"), std::string::npos) << x.advice();
  EXPECT_NE(x.advice().find("Swizzle<5,0,6>"), std::string::npos) << x.advice();
  Explanation const y = explain_kernel("transpose_01_naive_read", square(4096), h200());
  EXPECT_NE(y.advice().find("32 sectors where 4 would do"), std::string::npos) << y.advice();
}

ExplainedSite const& site_of(Explanation const& x, std::string const& name) {
  for (ExplainedSite const& s : x.sites)
    if (s.name == name) return s;
  throw std::runtime_error("no site " + name);
}

// The tile of step 07 is written 16 bytes at a time and read 4 at a time: what is advised is what 08 and 09 do, and it
// costs what theirs costs. Those cannot be bettered, and the DRAM limits them.
TEST(Explain, AdviceKeepsAllAccessesOfAnArrayWhole) {
  Explanation const x = explain_kernel("transpose_07_vector_conflict", square(32768), h200());
  std::string const advice = site_of(x, "shared A load").advice;
  EXPECT_NE(advice.find(": pad rows by 16 bytes, or Swizzle<3,2,4>; then 4"), std::string::npos) << advice;
  EXPECT_EQ(x.advice().find("shared A load: "), 0u) << x.advice();
  for (char const* cured : {"transpose_08_vector_padded", "transpose_09_vector_swizzled"}) {
    Explanation const y = explain_kernel(cured, square(32768), h200());
    EXPECT_EQ(site_of(y, "shared A load").per_request(), 4.);
    EXPECT_NEAR(x.seconds - site_of(x, "shared A load").saves, y.seconds, 1e-9);
    std::string const none = site_of(y, "shared A load").advice;
    EXPECT_NE(none.find("no layout that keeps its 16-byte stores whole needs fewer"), std::string::npos) << none;
    EXPECT_EQ(y.advice(), "every byte moves once and the DRAM is busy: only moving fewer bytes would help");
  }
}

// Every advice: a padding keeps each lane's bytes together and aligned.
TEST(Explain, PaddingsKeepLanesAligned) {
  std::regex const padding("pad rows by ([0-9]+) bytes");
  int paddings = 0;
  auto const check = [&](Explanation const& x) {
    for (ExplainedSite const& s : x.sites)
      if (std::smatch found; std::regex_search(s.advice, found, padding)) {
        ++paddings;
        for (ExplainedSite const& other : x.sites) {
          EXPECT_NE(other.site.mechanism, Mechanism::tma) << x.work.kernel << ", " << s.name;
          if (other.site.operand == s.site.operand && other.site.space == s.site.space) {
            EXPECT_EQ(std::stoul(found[1]) % other.site.bytes, 0u) << x.work.kernel << ", " << s.name;
          }
        }
      }
  };
  for (auto const& name : kernel_names<CopyCase>())
    for (int elem_bytes : {2, 4}) {
      try {
        check(explain_kernel(name, transpose_case(1024, 1024, 1, elem_bytes), h200()));
      } catch (UsageError const&) {  // it does not take these
      }
    }
  for (auto const& entry : gemm_kernels())
    check(explain_kernel(entry.info().name, shown_case(entry.info(), 1024, 1024, 1024), h200()));
  EXPECT_GE(paddings, 5);
}

// Sites by hand: rows of `pitch` bytes, written one by one, their first words read by the lanes of a warp.
Site site_of_rows(bool store, unsigned bytes, std::uint64_t apart) {
  Site s{"shared A", replay::Space::shared, store, Mechanism::plain, bytes};
  banks::Request r{{}, ~0u, bytes};
  for (unsigned lane = 0; lane < 32; ++lane) r.address[lane] = 4096 + lane * apart;
  s.count(r);
  return s;
}
TEST(Explain, CuresAreAskedOfAllSites) {
  Site const read = site_of_rows(false, 4, 128), written = site_of_rows(true, 4, 4), wide = site_of_rows(true, 16, 16);
  EXPECT_EQ(cure_of(read, {read, written})->layouts, "pad rows by 4 bytes, or Swizzle<5,0,5>");
  EXPECT_EQ(cure_of(read, {read, wide})->layouts, "pad rows by 16 bytes, or Swizzle<3,2,3>");
  EXPECT_EQ(cure_of(read, {read, wide})->wavefronts, 4u);
  Site box{"out", replay::Space::global, true, Mechanism::tma, 0};
  box.traffic = {1, 4096};
  EXPECT_EQ(cure_of(read, {read, box})->layouts, "Swizzle<3,2,3>");  // TMA's, of 128 bytes
  EXPECT_EQ(cure_of(site_of_rows(false, 4, 256), {site_of_rows(false, 4, 256), box})->why_not,
            "no swizzle that TMA takes does better");
  Site other = wide;
  other.operand = "shared B";
  EXPECT_EQ(cure_of(read, {read, written, other})->layouts, cure_of(read, {read, written})->layouts);
}

// Where nothing is gained, the resource is named.
TEST(Explain, AdviceThatWouldNotHelpIsNotGivenFirst) {
  CopyCase shifted = square(4096);
  shifted.base_src = 1;
  Explanation const x = explain_kernel("copy_01_scalar", shifted, h200());
  EXPECT_FALSE(site_of(x, "in load").advice.empty());
  EXPECT_EQ(x.limit, "DRAM");
  EXPECT_EQ(x.advice().find("every byte moves once"), 0u) << x.advice();
  EXPECT_NE(x.advice().find("would save less than 2 %"), std::string::npos) << x.advice();
}

// Its own screen says of which kernels the model knows little, and what was measured.
TEST(Explain, DoubtsKernelsThatAreFarFromIdeal) {
  for (char const* name : {"transpose_01_naive_read", "transpose_02_naive_write"}) {
    Explanation const x = explain_kernel(name, square(32768), h200());
    EXPECT_NE(to_text(x).find("\n  doubt: "), std::string::npos) << name;
    EXPECT_NE(recorded_text(x, square(32768)).find("ms on NVIDIA H200"), std::string::npos) << name;
    EXPECT_EQ(recorded_text(explain_kernel(name, square(32768), *find_device("A100")), square(32768)), "");
    EXPECT_EQ(recorded_text(x, square(12345)), "");
  }
  EXPECT_NE(explain_kernel("sgemm_01_naive", gemm_case(4096, 4096, 4096, "nn"), h200()).doubt(), "");
  EXPECT_EQ(explain_kernel("transpose_06_smem_swizzled", square(32768), h200()).doubt(), "");
  EXPECT_EQ(explain_kernel("sgemm_09_thread_tile", gemm_case(4096, 4096, 4096, "nn"), h200()).doubt(), "");
}

}  // namespace
}  // namespace inlay::lab
