// Checks the result of a GEMM. Operands of whole numbers, whose sums are exact in any order: every element is compared.
// Operands with random significands: the error is compared with a bound that follows from the accumulation. TF32 would
// pass the first check, but not the second.
#pragma once
#include "measure/candidate.h"
#include "measure/gemm_data.h"
#include "problems/gemm_case.h"

namespace inlay::lab {

struct GemmCandidate : Candidate<GemmCase> {
  std::int64_t accumulation_length = 0;  // longest accumulation in one register, in FMAs; 0: all of K
  // Byte offset in the workspace of a word for each matrix: 0 if f16 slices computed it, 1 if it refused them. None:
  // the candidate does not try f16 slices.
  std::optional<std::int64_t> refusals{};
  bool truncates = false;            // Info::truncates of a kernel
  bool rounds_partial_sums = false;  // may split K and round partial sums to D's type
};

// The GEMM of a call, for the checks on the device.
GemmArrays gemm_arrays(GemmCase const& c, GemmCall const& call);

class GemmChecker {
 public:
  // Throws UsageError if K is so large that sums of whole numbers are not exact in fp32.
  GemmChecker(GemmCase const& c, GemmCall const& call, cudaStream_t stream);

  // Launches twice on whole numbers, whose sums must be exact unless the candidate rounds partial sums, the second time
  // with the workspace that the first launch left, then once on significands. The first candidate that passes is
  // compared with sums in fp64: all elements, or, if that takes too long, a sample of the first and the last matrix.
  // Later candidates are compared with the first one, element by element.
  CheckResult operator()(GemmCandidate const& candidate);

  // Fills A and B with significands, and D too if beta is not 0.
  void fill(GemmCall const& call) const;

  // Compares every D, bit by bit, with the result of a launch on the first set of buffers alone.
  std::string again(GemmCandidate const& candidate, std::vector<GemmCall> const& calls, AllSets const& all_sets);

 private:
  std::string launched(GemmCandidate const& candidate, GemmCall const& call) const;
  std::string exactly(GemmCandidate const& candidate);
  CheckResult rounded(GemmCandidate const& candidate) const;
  std::string compared(std::vector<GemmArrays> const& gemms, void const* expected) const;
  DeviceMemory copy_of_d(GemmArrays const& gemm) const;

  GemmCase c_;
  GemmCall call_;
  Values values_;
  cudaStream_t stream_;
  DeviceMemory expected_;  // the result on whole numbers; null until a candidate passed
};

}  // namespace inlay::lab
