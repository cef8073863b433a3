// The case at which a GEMM kernel is shown.
#pragma once
#include "problems/gemm_case.h"

namespace inlay::lab {

// Whether the kernel accepts operands of the type for some operand transposes.
bool takes_type(Info<Gemm> const& info, DType type);
// Shows the kernel with these extents, with a K of 16, as a batch of 16 x 16 x 16 or with four columns, whichever it
// takes first; in f32, or in bf16 if it does not accept f32, at the first operand transposes that it accepts. The step
// about a transposed B is shown at nt.
GemmCase shown_case(Info<Gemm> const& info, std::int64_t M, std::int64_t N, std::int64_t K);

}  // namespace inlay::lab
