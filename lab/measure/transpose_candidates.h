// Moves on the GPU: kernels, the public function, and others' work on the same bytes.
#pragma once
#include <inlay/planner/plan.h>

#include "measure/device_data.h"
#include "measure/on_device.h"
#include "problems/transpose_case.h"
#include "results/bench.h"

namespace inlay::lab {

using Launch = std::function<void(TransposeCall const&, cudaStream_t)>;

struct TransposeCandidate : Candidate<TransposeCase> {
  Placement placement;  // which source element belongs where
};

// Poisons destinations, and checks every element.
class TransposeChecker {
 public:
  TransposeChecker(TransposeCase const& c, TransposeCall const& call, cudaStream_t stream);
  CheckResult operator()(TransposeCandidate const& candidate);
  // The padding too: the copy limit takes whole vectors.
  void fill(TransposeCall const& call) const;
  std::string again(TransposeCandidate const& candidate, std::vector<TransposeCall> const& calls,
                    AllSets const& all_sets);

 private:
  void poison(std::vector<TransposeCall> const& calls, TransposeCandidate const& candidate) const;
  std::string check_result(std::vector<TransposeCall> const& calls, TransposeCandidate const& candidate) const;
  // As much of a destination as is looked at.
  std::int64_t bytes(TransposeCandidate const& candidate) const;

  TransposeCase c_;
  std::vector<TransposeCall> first_;  // the one call of the first check result
  cudaStream_t stream_;
};

// Of a transpose, or of a copy, which packs the rows.
Placement placement_of(TransposeCase const& c, bool copies);

inline constexpr char const* kMemcpy = "cudaMemcpyAsync";
inline constexpr char const* kVectorCopy = "copy_03_vector";
inline constexpr char const* kGeam = "cublas_geam";

// The faster of these two is the copy limit: as many bytes as the case moves, contiguous, a multiple of 16, from and to
// aligned addresses.
std::vector<TransposeCandidate> copy_limit(TransposeCase const& c, TransposeCall const& call);

template <>
struct OnDevice<TransposeCase> {
  using Candidate = TransposeCandidate;
  static TransposeCandidate of_kernel(Entry<Copy> const& entry, TransposeCase const& c, TransposeCall const& call);
  // The copy limit's, copies of as many contiguous bytes, then transposes, the public function, baselines.
  static std::vector<TransposeCandidate> candidates(TransposeCase const& c, TransposeCall const& call,
                                                    cudaStream_t stream, std::vector<std::string> const& asked,
                                                    BenchOptions const& options);
  using Checker = TransposeChecker;
  static void best(std::vector<Row>&) {}
  static bool is_baseline(TransposeCandidate const& x) { return x.name == kMemcpy || x.name == kVectorCopy; }
  // Bytes read plus bytes written.
  static double work(TransposeCase const& c, TransposeCandidate const& x) {
    return 2e-6 * double(x.placement.elements()) * c.elem_bytes;
  }
  static std::int64_t check_bytes(TransposeCase const&) { return 0; }
  static double peak(Device const& device, double) { return device.peak_gbps; }
  static std::function<void(cudaStream_t)> public_call(TransposeCase const& c, TransposeCall const& call, void*,
                                                       std::size_t);
  static Operands in_order(TransposeCase const& c, TransposeCall const& call, void* workspace);
};

}  // namespace inlay::lab
