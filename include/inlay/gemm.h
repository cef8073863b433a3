// Multiplying matrices. Views in, nothing out: no allocation, no synchronisation; the launches go to `stream` of the current
// device. Safe to call from many threads.
#pragma once
#include <inlay/plan.h>
#include <inlay/tensor.h>

#include <cstddef>

namespace inlay {

struct GemmOptions {
  Compute compute = Compute::fp32;  // on the FMA units: no tensor cores, no TF32
  void* workspace = nullptr;        // device memory, a multiple of 256 bytes; null: a plan that needs none
  std::size_t workspace_bytes = 0;  // at least gemm_workspace() for the same arguments
};

// D = epilogue(A B): alpha A B + beta D for float views A: (M,K), B: (K,N), D: (M,N); or a batch, (L,M,K), (L,K,N),
// (L,M,N). Any strides: a transposed operand is A.transposed(), a matrix shared by a batch has the batch stride 0. Bases
// are multiples of 4 bytes.
//
// As in BLAS: beta == 0 never reads D; alpha == 0 or K == 0 reads neither A nor B, whose pointers may then be null, and
// scales D; a D without elements is left alone. NaN and Inf propagate otherwise.
//
// Deterministic: the same bits on every run and stream, and for every batch index and batch count, for one device, one
// set of extents and strides, matrices that begin at the same residue modulo 16 bytes, and the same options. With and
// without a workspace the plan, and so the last bits, may differ. A batch so large that its packed operands or partial
// sums do not fit the device's memory may get another plan than one matrix of it; one that is more than a grid holds is
// multiplied in pieces, with the same bits.
//
// Throws Error, before anything is launched, for: ranks other than 2 and 3 or that differ, shapes that do not match,
// types other than f32, null or misaligned pointers with elements, a D that overlaps itself, A or B, byte offsets
// beyond 63 bits, memory that the current device cannot access, a stream of another device, a matrix of more tiles than a
// grid holds, a workspace that is too small, misaligned or overlaps an operand. While `stream` is captured, pointers that
// CUDA does not know are taken for memory of the graph.
void gemm(ConstTensor const& A, ConstTensor const& B, Tensor const& D, Epilogue const& epilogue = {},
          cudaStream_t stream = nullptr, GemmOptions const& options = {});

// The bytes of workspace that the fastest plan for these arguments on the current device wants; may be 0. Two calls
// that may run at the same time need a workspace each.
std::size_t gemm_workspace(ConstTensor const& A, ConstTensor const& B, Tensor const& D, Epilogue const& epilogue = {},
                           Compute compute = Compute::fp32);

// The plan by which gemm() would answer on the current device, one with a workspace or one that needs none. Launches
// nothing. Throws as gemm(), but for memory that the device cannot access and for the workspace: a run does.
Plan plan(ConstTensor const& A, ConstTensor const& B, Tensor const& D, Epilogue const& epilogue = {},
          Compute compute = Compute::fp32, bool with_workspace = true);

}  // namespace inlay
