// Gemm: D = epilogue(A B) for a batch of matrices, whatever their strides.
#pragma once
#include <inlay/problem/operand.h>
#include <inlay/tensor.h>

#include <cstddef>

namespace inlay::problem {

// D(m,n,l) = alpha * sum over k of A(m,k,l) * B(n,k,l) + beta * D(m,n,l). As in CuTe, B is (N,K,L): its modes are those
// of the GEMM; D, which BLAS calls C, is the operand C here.
//
// Canonical: C's rows lie along n (its column stride is 1) if either of its modes is contiguous, for which A and B change
// places where they must. An empty C has no extents at all. alpha == 0 and K == 0 come together, without A and B: they are
// not read. A stride over an extent of 1 is 1 if the operand's other stride is not, so that the operand is contiguous in
// one mode at least; else it is the pitch of rows in whole vectors of 16 bytes, so that nobody need ask. A batch of one
// has batch strides of 0.
struct Gemm {
  Operand A;  // (M,K,L)
  Operand B;  // (N,K,L)
  Operand C;  // (M,N,L)
  Epilogue epilogue;
  Compute compute{};
  bool exchanged = false;  // A and B have changed places: C is the transpose of the caller's

  // K may be split into slices of slice_K (the last one may be shorter). C then receives their partial sums, one for each slice:
  // matrix after matrix and part after part. What adds them is a Reduction.
  int slices = 1;
  std::int64_t slice_K = 0;

  constexpr std::int64_t M() const { return C.rows; }
  constexpr std::int64_t N() const { return C.cols; }
  constexpr std::int64_t K() const { return A.cols; }
  constexpr std::int64_t L() const { return C.matrices; }
  constexpr std::int64_t elements() const { return M() * N() * L(); }  // of C

  // The same GEMM with another K.
  constexpr Gemm with_K(std::int64_t K) const {
    Gemm g = *this;
    g.A.cols = g.B.cols = K;
    return g;
  }
};

// D = epilogue(A B). A: (M,K), B: (K,N), D: (M,N), or all three of rank 3 with the batch first: (L,M,K), (L,K,N), (L,M,N).
// Throws Error for what inlay/gemm.h lists.
Gemm make_gemm(ConstTensor const& A, ConstTensor const& B, Tensor const& D, Epilogue const& epilogue, Compute compute);

// Throws Error for a workspace that no plan of this GEMM can take: null with a size, misaligned, outside the address
// space, or over the bytes of C, or of A and B where they are read.
void check_workspace(void const* workspace, std::size_t size, Gemm const& gemm, ConstTensor const& A,
                     ConstTensor const& B, ConstTensor const& D);

}  // namespace inlay::problem
