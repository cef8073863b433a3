// Every kernel of Gemm, replayed on the CPU over the corpus: all checks silent, bit for bit the oracle's, the counts
// those of counts().
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include <inlay/explain/explanation.h>
#include <inlay/registry/number.h>
#include <inlay/registry/registry.h>
#include <inlay/registry/rounding.h>
#include "gemm_corpus.h"

namespace inlay::test {
namespace {
using namespace registry;
using explain::counted, replay::Finding;

std::string text(Traffic const& t) { return std::to_string(t.requests) + "/" + std::to_string(t.transactions); }
std::string text(Counts const& c) {
  return "load " + text(c.global_load) + " store " + text(c.global_store) + " shared store " + text(c.shared_store) +
         " shared load " + text(c.shared_load) + " cp.async " + text(c.async_copy) + " TMA " + text(c.tma_load) + " " +
         text(c.tma_store) + " fma " + std::to_string(c.fma);
}

// Replays one case; whether the kernel took it.
bool runs(Entry<Gemm> const& entry, GemmCase const& c, DType type, Compute compute, Numbers numbers = Numbers::whole) {
  SCOPED_TRACE(c.name() + " " + name_of(type));
  Recorder recorder;
  auto const buffer = [&](char const* name, Stored const& stored, unsigned seed) {
    return allocate_numbers(recorder, name, std::size_t(stored.elements(c.L)) + 16, type, seed, numbers);
  };
  void *const A = buffer("A", stored_a(c), 1), *const B = buffer("B", stored_b(c), 2),
              *const D = buffer("D", stored_c(c), 3);
  std::size_t const elements = std::size_t(stored_c(c).elements(c.L)) + 16, bytes = std::size_t(bytes_of(type));
  if (c.beta == 0)
    for (std::size_t i = 0; i < elements; ++i) write_number(recorder.real(D) + i * bytes, type, NAN);
  Gemm const gemm = gemm_of(c, A, B, D, compute, type);
  if (Reason const why = entry.info().rejects(gemm, Device{})) {
    EXPECT_GT(why.sentence().size(), 20u);
    return false;
  }
  std::string const old(recorder.real(D), elements * bytes);
  std::size_t const workspace = entry.info().workspace(gemm, Device{});
  recorder.allocate_workspace(workspace);
  entry.replay(gemm, Device{}, recorder);
  if (auto const counts = entry.info().counts) {
    EXPECT_EQ(text(counted(recorder)), text(counts(gemm, Device{})));
  }
  EXPECT_GE(recorder.fma + recorder.mma_fma + recorder.wgmma_fma, gemm.elements() * gemm.K());
  if (workspace) {  // once more, on what the first run left there
    std::memcpy(recorder.real(D), old.data(), old.size());
    entry.replay(gemm, Device{}, recorder);
  }
  for (Finding const& f : recorder.findings) ADD_FAILURE() << name_of(f.check) << ": " << f.sentence;
  return true;
}

constexpr DType kTypes[] = {f32, bf16, f16};
// The cases with elements that each kernel runs at least, in each type that it takes: else the corpus does not test it.
constexpr int kFewest = 6;

class GemmKernels : public testing::TestWithParam<int> {};

TEST_P(GemmKernels, ReplayIsRightAndCostsWhatWasPredicted) {
  auto const& entry = gemm_kernels()[std::size_t(GetParam())];
  int types = 0;
  for (DType type : kTypes) {
    int ran = 0;
    for (GemmCase const& c : gemm_corpus()) {
      ran += runs(entry, c, type, Compute::fp32) && c.M * c.N > 0;
      if (type == f32 && c.K >= 64) runs(entry, c, type, Compute::fp32_blocked);  // has accumulations to end
      if (HasFailure()) return;
    }
    EXPECT_TRUE(ran == 0 || ran >= kFewest) << ran << " of " << name_of(type);
    types += ran > 0;
  }
  EXPECT_GE(types, 1);
}

// Whole numbers are exact in TF32 too; of significands the last bit counts.
TEST_P(GemmKernels, RoundsAsItsType) {
  auto const& entry = gemm_kernels()[std::size_t(GetParam())];
  int ran = 0;
  for (DType type : kTypes)
    for (char const* transposes : {"nn", "nt", "tn", "tt"})
      for (GemmCase const& c : {GemmCase{40, 36, 700, 1, transposes, 1.3f, -.7f},
                                GemmCase{40, 36, 704, 1, transposes, 1.3f, -.7f}, GemmCase{1, 3, 5, 2, transposes},
                                GemmCase{6, 7, 200, 3, transposes, 1.3f, -.7f, 0, 0, 0, 0, 0, 0, false, false, 0}})
        for (Compute compute : {Compute::fp32, Compute::fp32_blocked})
          if (type == f32 || compute == Compute::fp32) ran += runs(entry, c, type, compute, Numbers::significands);
  EXPECT_GE(ran, 2);
}

TEST(ThinGemm, RowsAndSumsBeyondTilesAndStages) {
  auto const thin = std::ranges::find_if(
      gemm_kernels(), [](auto const& entry) { return entry.info().name == std::string("sgemm_thin"); });
  for (GemmCase const& c : thin_corpus()) EXPECT_TRUE(runs(*thin, c, f32, Compute::fp32));
}

INSTANTIATE_TEST_SUITE_P(Ladder, GemmKernels, testing::Range(0, int(gemm_kernels().size())), [](auto const& info) {
  return std::string(gemm_kernels()[std::size_t(info.param)].info().name);
});

}  // namespace
}  // namespace inlay::test
