// A B that is packed once for many GEMMs.
#pragma once
#include <inlay/gemm.h>
#include <inlay/problem/batched_gemm.h>

namespace inlay {

// Makes the kernels of a GEMM read `packed` where they would pack B. Throws Error if it is not B's: of another Compute,
// another shape, or of a batch; or if it is null or misaligned.
void keep_packed_b(problem::BatchedGemm& batched, PackedB const& packed, ConstTensor const& B);
// Throws Error if the packed B of a GEMM, if it has one, is in the way of D or the workspace.
void check_packed_b(problem::Gemm const& gemm, ConstTensor const& D, void const* workspace,
                    std::size_t workspace_bytes);

}  // namespace inlay
