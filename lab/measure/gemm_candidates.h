// GEMMs on the GPU: kernels, the public function with and without what it may use, cuBLAS.
#pragma once
#include <inlay/planner/plan.h>

#include "measure/gemm_checker.h"
#include "results/bench.h"

namespace inlay::lab {

using GemmLaunch = std::function<void(GemmCall const&, cudaStream_t)>;

// cuBLAS in pedantic math, in default math, and cublasLt with the best of its heuristics' algorithms. The fastest of them
// is the row kCublas, the bar.
inline constexpr char const *kPedantic = "cublas_pedantic", *kDefault = "cublas_default", *kLt = "cublas_lt";
inline constexpr char const* kCublas = "cublas";
inline constexpr char const* kGemmWithout = "gemm_no_workspace";
inline constexpr char const* kGemmBlocked = "gemm_blocked";

template <>
struct OnDevice<GemmCase> {
  using Candidate = GemmCandidate;
  using Checker = GemmChecker;
  static GemmCandidate of_kernel(Entry<Gemm> const& entry, GemmCase const& c, GemmCall const& call) {
    return {candidate_of(entry, c, call), entry.info().accumulation_length};
  }
  // cuBLAS, then kernels, the public function, others' GEMMs. Throws UsageError where the build has no cuBLAS.
  static std::vector<GemmCandidate> candidates(GemmCase const& c, GemmCall const& call, cudaStream_t stream,
                                               std::vector<std::string> const& asked, BenchOptions const& options);
  static bool is_baseline(GemmCandidate const& x) { return x.name.starts_with("cublas_"); }
  // The row kCublas before all others, and its error beside theirs.
  static void best(std::vector<Row>& rows);
  static double work(GemmCase const& c, GemmCandidate const&) { return 1e-9 * c.operations(); }
  static std::int64_t check_bytes(GemmCase const& c) {
    return 2 * std::int64_t(Kind<GemmCase>::operands(c).back().bytes());
  }
  // 128 fused multiply-adds a clock on each multiprocessor, two operations each.
  static double peak(Device const& device, double clock_mhz) { return 1e-6 * device.sm_count * 128 * 2 * clock_mhz; }
  static std::function<void(cudaStream_t)> public_call(GemmCase const& c, GemmCall const& call, void* workspace,
                                                       std::size_t bytes);
  static Operands in_order(GemmCase const& c, GemmCall const& call, void* workspace);
};

}  // namespace inlay::lab
