// What the lab records: rows come back as they were written, and a kernel that is wrong gets no number.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "measure/gpu.h"
#include "problems/kernels.h"
#include "results/data_files.h"
#include "results/json_rows.h"
#ifdef INLAY_NVCC
#include "measure/copy_candidates.h"
#include "measure/guarded.h"
#include "measure/measure.h"
#endif

namespace inlay::lab {
namespace {

// To the last byte and in the same order, so that the files of two runs can be compared as text.
TEST(Results, RecordedRowsAreWrittenAsTheyWereRead) {
  for (char const* name : {"transpose.json", "copy.json", "sgemm.json", "small.json", "small_gemms.json"}) {
    auto const file = data_file("results/h200") / name;
    std::ifstream in(file);
    Json const rows = Json::parse(in).at("rows");
    auto const results = load_results(file).value();
    ASSERT_FALSE(rows.empty()) << name;
    ASSERT_EQ(results.rows.size(), rows.size()) << name;
    for (std::size_t i = 0; i < rows.size(); ++i) ASSERT_EQ(to_json(results.rows[i]).dump(), rows[i].dump()) << name;
  }
}

#ifdef INLAY_NVCC
// Transposes, and then changes the last byte that it wrote.
void run_almost(Copy const& copy, Device const& device, void* workspace, cudaStream_t stream) {
  kernel_named<CopyCase>("transpose_01_naive_read").kernel.run(copy, device, workspace, stream);
  auto* const last = static_cast<char*>(copy.dst) + copy.elements() * copy.elem_bytes - 1;
  check(cudaMemsetAsync(last, 0x5A, 1, stream));
}

TEST(Measure, AWrongKernelGetsNoNumber) {
  if (auto const why = why_no_gpu(); !why.empty()) GTEST_SKIP() << why;
  CopyCase const c = transpose_case(1024, 1000);
  auto const& right = kernel_named<CopyCase>("transpose_01_naive_read");
  Entry<Copy> wrong = right;
  wrong.kernel.run = run_almost;
  Stream const stream = make_stream();
  Progress progress;
  auto const candidates = [&](CopyCall const& call, cudaStream_t) {
    return std::vector{of_kernel(right, c, call), of_kernel(wrong, c, call)};
  };
  auto const rows = measure(c, candidates, 15, stream.get(), progress);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].check_result, "ok");
  EXPECT_TRUE(rows[0].ms_median);
  EXPECT_TRUE(rows[1].check_result.starts_with("FAILED: 1 of 1024000 elements are wrong")) << rows[1].check_result;
  EXPECT_FALSE(rows[1].ms_median);
  EXPECT_EQ(check_between_guards(right, c), "ok");
  EXPECT_TRUE(check_between_guards(wrong, c).starts_with("FAILED"));
}
#endif

}  // namespace
}  // namespace inlay::lab
