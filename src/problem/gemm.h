// Gemm: D = epilogue(A B) for a batch of matrices with arbitrary strides.
#pragma once
#include <inlay/problem/operand.h>
#include <inlay/tensor.h>

#include <cstddef>
#include <span>

namespace inlay::problem {

// D(m,n,l) = activation(alpha * sum over k of A(m,k,l) * B(n,k,l) + beta * C(m,n,l)), where C is D unless it has a base
// of its own. As in CuTe, B is (N,K,L): its modes are those of the GEMM.
//
// Canonical form:
// - D is contiguous along n (its column stride is 1) if it is contiguous along either mode; A and B are exchanged if
//   needed.
// - If D has no elements, all extents are 0.
// - If alpha is 0 or K is 0, both are 0, and A and B are not read.
// - The stride of an extent of 1 is 1 if the other stride is not, so that the operand is contiguous along one mode;
//   otherwise it is the row pitch rounded up to whole 16-byte vectors, so that kernels need no special case.
// - The batch stride of a batch of one matrix is 0.
struct Gemm {
  Operand A;  // (M,K,L)
  Operand B;  // (N,K,L)
  Operand D;  // (M,N,L)
  Operand C;  // (M,N,L) of D's type, with strides of 0 where it is broadcast; base null: C is D, or is not read
  Epilogue epilogue;
  Compute compute{};
  bool exchanged = false;   // A and B have been exchanged: D is the transpose of the caller's
  bool only_packs = false;  // a kernel that packs operands writes their `packed`, and nothing else

  // Split K: `slices` slices of slice_K indices each; the last one may be shorter. D receives one partial sum for each
  // slice: all matrices of the first slice, then those of the second. A Reduction adds them. With one slice and a
  // slice_K, a kernel that can do so adds the sums of that many indices in the order of a Reduction: the bits of the
  // split.
  int slices = 1;
  std::int64_t slice_K = 0;

  // Groups of rows: A, D and C are one matrix each, and B is `groups` of them. Rows group_ends[i - 1], or 0 for the
  // first group, to group_ends[i] of D are those of A times matrix i of B; D's rows from the last end on stay as they
  // are. The ends lie in device memory, ascend, and are not known to the planner. 0: no groups.
  std::int64_t groups = 0;
  std::int32_t const* group_ends = nullptr;

  constexpr std::int64_t M() const { return D.rows; }
  constexpr std::int64_t N() const { return D.cols; }
  constexpr std::int64_t K() const { return A.cols; }
  constexpr std::int64_t L() const { return D.matrices; }
  constexpr std::int64_t elements() const { return M() * N() * L(); }  // of D
  constexpr Operand const& addend() const { return C.base ? C : D; }   // what beta scales
  // Whether D is more than alpha A B + beta D.
  constexpr bool has_further_epilogue() const { return C.base || epilogue.activation != Activation::none; }

  // The operand that pack_b() has packed, of which there is one at most; null: none.
  constexpr void* packed_operand() const { return A.packed ? A.packed : B.packed; }
  // The GEMM that computes the transpose of D: D^T = B^T A^T.
  constexpr Gemm transposed() const {
    Gemm g = *this;
    g.A = B, g.B = A;
    g.D = problem::transposed(D), g.C = problem::transposed(C);
    return g;
  }
  // The same GEMM with another K.
  constexpr Gemm with_K(std::int64_t K) const {
    Gemm g = *this;
    g.A.cols = g.B.cols = K;
    return g;
  }
};

// D = epilogue(A B). A: (M,K), B: (K,N), D: (M,N), or all three of rank 3 with the batch first: (L,M,K), (L,K,N),
// (L,M,N). A and B have one type, f32, bf16 or f16, and D has it too or is f32. Throws Error for what inlay/gemm.h
// lists.
Gemm make_gemm(ConstTensor const& A, ConstTensor const& B, Tensor const& D, Epilogue const& epilogue, Compute compute);

// D = epilogue(A B) for groups of rows, with C = D. A: (M,K), B: (groups,K,N), D: (M,N), of bf16 or f16, and D may be
// f32. D is not exchanged: its rows are those of the call. Throws Error for what inlay/gemm.h lists.
Gemm make_grouped_gemm(ConstTensor const& A, ConstTensor const& B, Tensor const& D,
                       std::span<std::int32_t const> group_ends, Epilogue const& epilogue);

// C with the shape of D: a view of lower rank, or with extents of 1, is repeated, as NumPy does.
ConstTensor broadcast_to(ConstTensor const& C, ConstTensor const& D);

// Throws Error for a workspace that no plan of this GEMM can use: null with a size, misaligned, outside the address
// space, or overlapping D, or A, B or C if they are read.
void check_workspace(void const* workspace, std::size_t size, Gemm const& gemm, ConstTensor const& A,
                     ConstTensor const& B, ConstTensor const& D, ConstTensor const* C = nullptr);

}  // namespace inlay::problem
