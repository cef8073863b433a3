// Operands on the device, in as many sets as it takes to find nothing in the L2 cache.
#pragma once
#include "measure/buffers.h"
#include "measure/gemm_data.h"
#include "problems/gemm_cases.h"

namespace inlay::lab {

// As the checks on the device see a multiplication.
Product product_of(GemmCase const& c, GemmCall const& call);

// The largest range of whole numbers, 3 at most, for which every sum is exact in fp32 whatever its order. Throws UsageError
// when K is too large even for -1 .. 1.
Values exact_values(GemmCase const& c);

// A and B, the gaps between their rows included.
void fill_operands(GemmCase const& c, GemmCall const& call, Values values, cudaStream_t stream);

class GemmBuffers {
 public:
  GemmBuffers(GemmCase const& c, std::int64_t l2_bytes);

  int count() const { return sets_.count(); }
  GemmCall call(int set) const;
  // A, B and C of the first `sets` sets.
  void fill(Values values, int sets, cudaStream_t stream) const;

 private:
  GemmCase c_;
  BufferSets sets_;
};

}  // namespace inlay::lab
