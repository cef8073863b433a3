// GEMM candidates on the GPU: kernels, the public function with and without a workspace, cuBLAS.
#pragma once
#include <inlay/planner/plan.h>

#include "measure/gemm_checker.h"
#include "measure/gemm_errors.h"
#include "results/bench.h"

namespace inlay::lab {

using GemmLaunch = std::function<void(GemmCall const&, cudaStream_t)>;

// cuBLAS in pedantic math, in default math, and cublasLt with the fastest algorithm that its heuristics propose. With
// bf16 and f16 default math and cublasLt may round partial sums of a split K; kLtExact is cublasLt with sums in fp32.
// The fastest is repeated as the row kCublas, the baseline.
inline constexpr char const *kPedantic = "cublas_pedantic", *kDefault = "cublas_default", *kLt = "cublas_lt",
                            *kLtExact = "cublas_lt_exact";
inline constexpr char const* kCublas = "cublas";
inline constexpr char const* kGemmWithout = "gemm_no_workspace";
inline constexpr char const *kGemmBlocked = "gemm_blocked", *kGemmSplitSafe = "gemm_split_safe",
                            *kGemmSplitFast = "gemm_split_fast";

inline GemmCandidate of_kernel(Entry<Gemm> const& entry, GemmCase const& c, GemmCall const& call) {
  return {candidate_of(entry, c, call), entry.info().accumulation_length, {}, entry.info().truncates};
}
// cuBLAS, then kernels, gemm(), and the baselines of `options`. kGemmSplitSafe and kGemmSplitFast, which are gemm()
// with these accuracies, must be named in `asked`. Throws UsageError if the build has no cuBLAS.
std::vector<GemmCandidate> candidates(GemmCase const& c, GemmCall const& call, cudaStream_t stream,
                                      std::vector<std::string> const& asked, BenchOptions const& options);
inline GemmChecker make_checker(GemmCase const& c, GemmCall const& call, cudaStream_t stream) {
  return {c, call, stream};
}
inline bool is_baseline(GemmCandidate const& x) { return x.name.starts_with("cublas_"); }
// Inserts the row kCublas before all others, and compares the errors of every row with its errors.
void add_best(GemmCase const& c, std::vector<Row>& rows);
inline double work(GemmCase const& c, GemmCandidate const&) { return 1e-9 * c.flops(); }
inline std::int64_t check_bytes(GemmCase const& c) { return 2 * std::int64_t(c.operands().back().bytes()); }
// Two operations for each multiply-add of the FMA units, or of wgmma for bf16 and f16; 0 where wgmma does not exist.
inline double peak(GemmCase const& c, Device const& device, double clock_mhz) {
  int const fma = c.dtype() == f32 ? 128 : device.compute_capability == 90 ? 2048 : 0;
  return 1e-6 * device.sm_count * fma * 2 * clock_mhz;
}
std::function<void(cudaStream_t)> public_call(GemmCase const& c, GemmCall const& call, void* workspace,
                                              std::size_t bytes);

}  // namespace inlay::lab
