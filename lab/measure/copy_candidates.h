// Copies and transposes on the GPU: kernels, the public functions, the copy limit and cuBLAS.
#pragma once
#include <inlay/planner/plan.h>

#include "measure/candidate.h"
#include "measure/device_data.h"
#include "problems/copy_case.h"
#include "results/bench.h"

namespace inlay::lab {

using CopyLaunch = std::function<void(CopyCall const&, cudaStream_t)>;

struct CopyCandidate : Candidate<CopyCase> {
  Strided layout;      // maps source bytes to destination bytes, for the check
  std::int64_t bytes;  // read plus written, for the rate
};

// Fills sources with words derived from their index, poisons destinations, and compares every byte of the destinations.
class CopyChecker {
 public:
  CopyChecker(std::vector<OperandBuffer> const& operands, CopyCall const& call, cudaStream_t stream);
  CheckResult operator()(CopyCandidate const& candidate);
  void fill(CopyCall const& call) const;
  std::string again(CopyCandidate const& candidate, std::vector<CopyCall> const& calls, AllSets const& all_sets);

 private:
  void poison(std::vector<CopyCall> const& calls) const;
  std::string check_result(std::vector<CopyCall> const& calls, Strided const& layout) const;

  std::int64_t src_bytes_, dst_bytes_;  // of the buffers
  std::vector<CopyCall> first_;         // one call: the set of buffers of the first check
  cudaStream_t stream_;
};

inline constexpr char const* kMemcpy = "cudaMemcpyAsync";
inline constexpr char const* kVectorCopy = "copy_03_vector";
inline constexpr char const* kGeam = "cublas_geam";

// A contiguous copy, by cudaMemcpyAsync and by copy_03_vector, with c.limit_bytes() read and written, rounded up to
// 16-byte vectors, between aligned addresses. The faster one is the copy limit.
std::vector<CopyCandidate> copy_limit(CopyCase const& c);

// The copy's extents and strides in bytes, with bases relative to the buffers of `call`.
Strided strided(Copy const& copy, CopyCall const& call);

CopyCandidate of_kernel(Entry<Copy> const& entry, CopyCase const& c, CopyCall const& call,
                        model::Config const& config = {});

// The copy limit, then for a transpose the kernels of the copy ladder on as many contiguous bytes, transposes,
// transpose() and cuBLAS; for another copy copy() and all kernels.
std::vector<CopyCandidate> candidates(CopyCase const& c, CopyCall const& call, cudaStream_t stream,
                                      std::vector<std::string> const& asked, BenchOptions const& options);

inline CopyChecker make_checker(CopyCase const& c, CopyCall const& call, cudaStream_t stream) {
  return {c.operands(), call, stream};
}
inline bool is_baseline(CopyCandidate const& x) { return x.name == kMemcpy || x.name == kVectorCopy; }
inline double work(CopyCase const&, CopyCandidate const& x) { return 1e-6 * double(x.bytes); }
inline std::int64_t check_bytes(CopyCase const&) { return 0; }
inline void add_best(CopyCase const&, std::vector<Row>&) {}
inline void add_errors(CopyCase const&, std::vector<CopyCandidate> const&, CopyCall const&,
                       std::vector<ErrorData> const&, std::vector<Row>&, cudaStream_t, Progress&) {}
inline double peak(CopyCase const&, Device const& device, double) { return device.peak_gbps; }
std::function<void(cudaStream_t)> public_call(CopyCase const& c, CopyCall const& call, void*, std::size_t);

}  // namespace inlay::lab
