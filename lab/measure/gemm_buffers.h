// A product's operands on the device.
#pragma once
#include "measure/gemm_data.h"
#include "problems/gemm_case.h"

namespace inlay::lab {

// As the checks on the device see a multiplication.
Product product_of(GemmCase const& c, GemmCall const& call);

// The largest range of whole numbers, 3 at most, for which every sum is exact in fp32 whatever its order. Throws UsageError
// when K is too large even for -1 .. 1.
Values exact_values(GemmCase const& c);

// A and B, the gaps between their rows included.
void fill_operands(GemmCase const& c, GemmCall const& call, Values values, cudaStream_t stream);

}  // namespace inlay::lab
