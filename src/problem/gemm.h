// Gemm: C = alpha A B + beta C for a batch of matrices in fp32, whatever their strides.
#pragma once
#include <inlay/gemm.h>

#include <cstdint>

namespace inlay {

// C(m,n,l) = alpha * sum over k of A(m,k,l) * B(n,k,l) + beta * C(m,n,l). As in CuTe, B is (N,K,L): its modes are those
// of the product. Strides are in elements; a transposed operand is one whose strides are exchanged.
//
// Canonical: C's rows lie along n (c_n == 1) if either of its modes is contiguous, for which A and B change places
// where they must. An empty C has no extents at all. alpha == 0 and K == 0 come together, without A and B: they are not
// read. A stride over an extent of 1 is 1 if the operand's other stride is not, so that the operand is contiguous in
// one mode at least; else it is the pitch of rows in whole vectors of 16 bytes, so that nobody need ask. A batch of one
// has batch strides of 0.
struct Gemm {
  std::int64_t M = 0, N = 0, K = 0, L = 1;
  float alpha = 1, beta = 0;
  float const* A = nullptr;
  std::int64_t a_m = 0, a_k = 0, a_l = 0;  // (M,K,L)
  float const* B = nullptr;
  std::int64_t b_n = 0, b_k = 0, b_l = 0;  // (N,K,L)
  float* C = nullptr;
  std::int64_t c_m = 0, c_n = 0, c_l = 0;  // (M,N,L)
  Accuracy accuracy = Accuracy{};

  // Of C.
  std::int64_t elements() const { return M * N * L; }
};

// C = alpha A B + beta C. A: (M,K), B: (K,N), C: (M,N), or all three of rank 3 with the batch first: (L,M,K), (L,K,N),
// (L,M,N). Throws Error for what inlay/gemm.h lists.
Gemm make_gemm(float alpha, Tensor const& A, Tensor const& B, float beta, Tensor const& C, Accuracy accuracy);

}  // namespace inlay
