// Every kernel of Gemm, replayed on the CPU over the corpus: all checks silent, bit for bit the oracle's, the counts
// those of counts().
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include <inlay/explain/explanation.h>
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

void fill(Recorder& recorder, float* seen, std::size_t count, float value) {
  for (std::size_t i = 0; i < count; ++i) std::memcpy(recorder.real(seen + i), &value, sizeof value);
}

enum class Data { integers, significands };

// Replays one case; whether the kernel took it.
bool runs(Entry<Gemm> const& entry, GemmCase const& c, Compute compute, Data data = Data::integers) {
  SCOPED_TRACE(c.name());
  auto const floats = [](std::int64_t n) { return std::size_t(n) + 16; };
  std::size_t const c_floats = floats(stored_c(c).elements(c.L));
  Recorder recorder;
  float* const A = recorder.allocate_integers("A", floats(stored_a(c).elements(c.L)), 1);
  float* const B = recorder.allocate_integers("B", floats(stored_b(c).elements(c.L)), 2);
  float* const C = recorder.allocate_integers("C", c_floats, 3);
  if (data == Data::significands) {
    put_significands(recorder, A, floats(stored_a(c).elements(c.L)), 1);
    put_significands(recorder, B, floats(stored_b(c).elements(c.L)), 2);
    put_significands(recorder, C, c_floats, 3);
  }
  if (c.beta == 0) fill(recorder, C, c_floats, NAN);
  Gemm const gemm = gemm_of(c, A, B, C, compute);
  if (Reason const why = entry.info().rejects(gemm, Device{})) {
    EXPECT_GT(why.sentence().size(), 20u);
    return false;
  }
  std::string const old(recorder.real(C), c_floats * sizeof(float));
  std::size_t const workspace = entry.info().workspace(gemm, Device{});
  recorder.allocate_workspace(workspace);
  entry.replay(gemm, Device{}, recorder);
  if (auto const counts = entry.info().counts) {
    EXPECT_EQ(text(counted(recorder)), text(counts(gemm, Device{})));
  }
  EXPECT_GE(recorder.fma, gemm.elements() * gemm.K());
  if (workspace) {  // once more, on what the first run left there
    std::memcpy(recorder.real(C), old.data(), old.size());
    entry.replay(gemm, Device{}, recorder);
  }
  for (Finding const& f : recorder.findings) ADD_FAILURE() << name_of(f.check) << ": " << f.sentence;
  return true;
}

// The cases with elements that each kernel runs at least: else the corpus does not test it.
constexpr int kFewest = 6;

class GemmKernels : public testing::TestWithParam<int> {};

TEST_P(GemmKernels, ReplayIsRightAndCostsWhatWasPredicted) {
  auto const& entry = gemm_kernels()[std::size_t(GetParam())];
  int ran = 0;
  for (GemmCase const& c : gemm_corpus()) {
    ran += runs(entry, c, Compute::fp32) && c.M * c.N > 0;
    if (c.K >= 64) runs(entry, c, Compute::fp32_blocked);  // has chains to end
    if (HasFailure()) return;
  }
  EXPECT_GE(ran, kFewest);
}

// Whole numbers are exact in TF32 too; of significands the last bit counts.
TEST_P(GemmKernels, RoundsAsFp32) {
  auto const& entry = gemm_kernels()[std::size_t(GetParam())];
  int ran = 0;
  for (char const* transposes : {"nn", "nt", "tn", "tt"})
    for (GemmCase const& c : {GemmCase{40, 36, 700, 1, transposes, 1.3f, -.7f}, GemmCase{1, 3, 5, 2, transposes}})
      for (Compute compute : {Compute::fp32, Compute::fp32_blocked}) ran += runs(entry, c, compute, Data::significands);
  EXPECT_GE(ran, 2);
}

INSTANTIATE_TEST_SUITE_P(Ladder, GemmKernels, testing::Range(0, int(gemm_kernels().size())), [](auto const& info) {
  return std::string(gemm_kernels()[std::size_t(info.param)].info().name);
});

}  // namespace
}  // namespace inlay::test
