// Whether a contender multiplies right: on whole numbers, whose sums are exact in any order.
#pragma once
#include "measure/cuda_handles.h"
#include "measure/gemm_buffers.h"
#include "measure/gemm_contenders.h"

namespace inlay::lab {

// The first that is right becomes what the others are compared with, element for element. Until then C is held against
// sums in fp64: all of it, or, where that takes too long, a sample of the first and the last matrix.
class ExactCheck {
 public:
  // The operands of `call` hold exact_values(c).
  ExactCheck(GemmCase const& c, GemmCall const& call, cudaStream_t stream);

  // Prepares C, launches, checks, and all of it again: the second launch finds the workspace as the first left it. "ok",
  // "rejected: ...", "FAILED: ...". Throws Error when the GPU fails.
  std::string operator()(GemmContender const& contender);

 private:
  std::string once(GemmContender const& contender);
  std::string compared(float const* expected) const;
  std::string summed_up() const;

  Values values_;
  GemmCall call_;
  Product product_;
  cudaStream_t stream_;
  DeviceMemory expected_;
};

}  // namespace inlay::lab
