// Whether a candidate multiplies right. On whole numbers, whose sums are exact in any order: every element. On significands:
// how far it is off, against a bound from how it accumulates, since TF32 and bf16 multiply whole numbers as well.
#pragma once
#include "measure/candidate.h"
#include "measure/gemm_data.h"
#include "problems/gemm_case.h"

namespace inlay::lab {

struct GemmCandidate : Candidate<GemmCase> {
  std::int64_t accumulation_length = 0;  // longest accumulation in one register, in FMAs; 0: all of K
};

class GemmChecker {
 public:
  // Throws UsageError when K is too large for whole numbers.
  GemmChecker(GemmCase const& c, GemmCall const& call, cudaStream_t stream);

  // Whole numbers twice, the second launch finds the workspace as the first left it, then significands. The first candidate
  // that is right is what the others are compared with, element for element; it is held against sums in fp64: all of them,
  // or, where that takes too long, a sample of the first and the last matrix.
  CheckResult operator()(GemmCandidate const& candidate);

  // Significands; C as beta has it.
  void fill(GemmCall const& call) const;

  // Every C is what the candidate makes of the first set when it is launched by itself, bit for bit.
  std::string again(GemmCandidate const& candidate, std::vector<GemmCall> const& calls, AllSets const& all_sets);

 private:
  std::string launched(GemmCandidate const& candidate, GemmCall const& call) const;
  std::string exactly(GemmCandidate const& candidate);
  CheckResult rounded(GemmCandidate const& candidate) const;
  std::string compared(std::vector<GemmArrays> const& gemms, void const* expected) const;
  DeviceMemory copy_of_c(GemmArrays const& gemm) const;

  GemmCase c_;
  GemmCall call_;
  Values values_;
  cudaStream_t stream_;
  DeviceMemory expected_;  // on whole numbers
};

}  // namespace inlay::lab
