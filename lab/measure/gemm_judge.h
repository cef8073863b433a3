// Whether a contender multiplies right. On whole numbers, whose sums are exact in any order: every element. On significands:
// how far it is off, against a bound from how its chains add, since TF32 and bf16 multiply whole numbers as well.
#pragma once
#include "measure/gemm_data.h"
#include "measure/on_device.h"
#include "problems/gemm_case.h"

namespace inlay::lab {

struct GemmContender : Contender<GemmCase> {
  std::int64_t chain = 0;  // so many multiply-adds follow one another at most; 0: all of K
};

class GemmJudge {
 public:
  // Throws UsageError when K is too large for whole numbers.
  GemmJudge(GemmCase const& c, GemmCall const& call, cudaStream_t stream);

  // Whole numbers twice, the second launch finds the workspace as the first left it, then significands. The first contender
  // that is right is what the others are compared with, element for element; it is held against sums in fp64: all of them,
  // or, where that takes too long, a sample of the first and the last matrix.
  Verdict operator()(GemmContender const& contender);

  // Significands; C as beta has it.
  void fill(GemmCall const& call) const;

  // Every C is what the contender makes of the first set when it is launched by itself, bit for bit.
  std::string again(GemmContender const& contender, std::vector<GemmCall> const& calls, AllSets const& all_sets);

 private:
  std::string launched(GemmContender const& contender, GemmCall const& call) const;
  std::string exactly(GemmContender const& contender);
  Verdict rounded(GemmContender const& contender) const;
  std::string compared(std::vector<Product> const& products, float const* expected) const;
  DeviceMemory copy_of_c(Product const& product) const;

  GemmCase c_;
  GemmCall call_;
  Values values_;
  cudaStream_t stream_;
  DeviceMemory expected_;  // on whole numbers
};

}  // namespace inlay::lab
