// What the lab records: rows come back as they were written, and a kernel that is wrong gets no number.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "measure/gpu.h"
#include "problems/kernels.h"
#include "results/data_files.h"
#include "results/json_rows.h"
#include "results/text.h"
#ifdef INLAY_NVCC
#include "measure/copy_candidates.h"
#include "measure/gemm_candidates.h"
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

TEST(Results, ErrorsAndSustainedTimesAreWrittenAndRead) {
  Row row;
  row.measured = gemm_case(64, 48, 32, "nt"), row.kernel = "gemm", row.check_result = "ok";
  row.sustained = true, row.clock_mhz = 1462.5;
  row.errors = {{"normal", 1e-7, 2e-7, .5, 0}, {"denormals", INFINITY, NAN, {}, {}}};
  Json const json = Json::parse(to_json(row).dump());
  EXPECT_EQ(json["errors"].dump(), R"({"normal":{"rel_err":1e-07,"largest":2e-07,"of_cublas":0.5,"refused":0},)"
                                   R"("denormals":{"rel_err":null,"largest":null}})");
  Row const read = parse_row(json);
  EXPECT_TRUE(read.sustained);
  EXPECT_EQ(read.clock_mhz, 1462.5);
  ASSERT_EQ(read.errors.size(), 2u);
  EXPECT_EQ(read.errors[0].of_cublas, .5);
  EXPECT_EQ(read.errors[0].refused, 0);
  EXPECT_TRUE(std::isnan(read.errors[1].rel_err));
  EXPECT_EQ(to_json(read).dump(), json.dump());
  EXPECT_NE(
      errors_table({row}).find("normal        gemm                              1.00e-07  2.00e-07      0.500  ran\n"),
      std::string::npos)
      << errors_table({row});
}

#ifdef INLAY_NVCC
// Transposes, and then changes the last byte that it wrote.
void run_almost(Copy const& copy, Device const& device, void* workspace, cudaStream_t stream) {
  kernel_named<CopyCase>("transpose_01_naive_read").kernel->run(copy, device, workspace, stream);
  auto* const last = static_cast<char*>(copy.dst) + copy.elements() * copy.elem_bytes - 1;
  check(cudaMemsetAsync(last, 0x5A, 1, stream));
}

TEST(Measure, AWrongKernelGetsNoNumber) {
  if (auto const why = why_no_gpu(); !why.empty()) GTEST_SKIP() << why;
  CopyCase const c = transpose_case(1024, 1000);
  auto const& right = kernel_named<CopyCase>("transpose_01_naive_read");
  Entry<Copy> wrong = right;
  Info<Copy> almost = *right.kernel;
  almost.run = run_almost, wrong.kernel = &almost;
  Stream const stream = make_stream();
  Progress progress;
  auto const candidates = [&](CopyCall const& call, cudaStream_t) {
    return std::vector{of_kernel(right, c, call), of_kernel(wrong, c, call)};
  };
  auto const rows = measure(c, candidates, {}, stream.get(), progress);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].check_result, "ok");
  EXPECT_TRUE(rows[0].ms_median);
  EXPECT_TRUE(rows[1].check_result.starts_with("FAILED: 1 of 1024000 elements are wrong")) << rows[1].check_result;
  EXPECT_FALSE(rows[1].ms_median);
  EXPECT_EQ(check_between_guards(right, c), "ok");
  EXPECT_TRUE(check_between_guards(wrong, c).starts_with("FAILED"));
}

// A batch whose operands are transposed and have gaps. A naive kernel rounds each sum K times.
TEST(Measure, ErrorsAreThoseOfFp32) {
  if (auto const why = why_no_gpu(); !why.empty()) GTEST_SKIP() << why;
  GemmCase c = gemm_case(37, 70, 129, "tn");
  c.batch = 3, c.lda = 45, c.inc_b = 2, c.alpha = -3;
  auto const& naive = kernel_named<GemmCase>("sgemm_01_naive");
  Entry<Gemm> wrong = naive;
  Info<Gemm> spoils = *naive.kernel;
  wrong.kernel = &spoils;
  spoils.run = [](Gemm const& g, Device const& device, void* workspace, cudaStream_t stream) {
    kernel_named<GemmCase>("sgemm_01_naive").kernel->run(g, device, workspace, stream);
    check(cudaMemsetAsync(g.D.base, 0x5A, 1, stream));
  };
  Stream const stream = make_stream();
  Progress progress;
  auto const candidates = [&](GemmCall const& call, cudaStream_t) {
    return std::vector{of_kernel(naive, c, call), of_kernel(wrong, c, call)};
  };
  MeasureOptions options;
  options.sustained = true, options.errors = error_data_named(std::vector<std::string>{"all"});
  auto const rows = measure(c, candidates, options, stream.get(), progress);
  ASSERT_EQ(rows.size(), 2u);
  ASSERT_EQ(rows[0].check_result, "ok");
  ASSERT_EQ(rows[0].errors.size(), options.errors.size());
  for (DataError const& error : rows[0].errors) {
    EXPECT_GT(error.largest, 0) << error.data;
    EXPECT_LT(error.largest, double(c.K + 1) * 0x1p-24) << error.data;
    EXPECT_LT(error.rel_err, 1e-6) << error.data;
  }
  EXPECT_TRUE(rows[0].sustained && rows[0].ms_median);
  EXPECT_GT(rows[0].clock_mhz.value_or(0), 100);
  EXPECT_FALSE(rows[1].ok());
  EXPECT_TRUE(rows[1].errors.empty());
}
#endif

}  // namespace
}  // namespace inlay::lab
