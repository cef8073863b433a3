// Multiplying matrices in fp32, on the FMA units: no tensor cores, no TF32. Views in, nothing out: no allocation, no
// synchronisation; the launches go to `stream` of the current device. Safe to call from many threads.
#pragma once
#include <inlay/tensor.h>

#include <cstddef>
#include <string>

namespace inlay {

// How an element's sum over K is formed. Both round to nearest at every step.
enum class Accuracy {
  one_level,  // one chain of fused multiply-adds, as long as K, or as the part of K that a block has
  two_level,  // chains of 1024 products at most, 256 in large matrices, each added once to the sum: the error hardly grows
              // with K; on an H200 at .92 to .96 of the other's speed with a workspace, and well below it without
};

struct GemmOptions {
  Accuracy accuracy = Accuracy::one_level;
  void* workspace = nullptr;        // device memory, a multiple of 256 bytes; null: a plan that needs none
  std::size_t workspace_bytes = 0;  // at least gemm_workspace() for the same arguments
};

// C = alpha A B + beta C for float views A: (M,K), B: (K,N), C: (M,N); or a batch, (L,M,K), (L,K,N), (L,M,N). Any
// strides: a transposed operand is A.transposed(), a matrix shared by a batch has the batch stride 0. Bases are
// multiples of 4 bytes.
//
// As in BLAS: beta == 0 never reads C; alpha == 0 or K == 0 reads neither A nor B, whose pointers may then be null, and
// scales C; a C without elements is left alone. NaN and Inf propagate otherwise.
//
// Deterministic: the same bits on every run and stream, and for every batch index and batch count, for one device, one
// set of extents and strides, matrices that begin at the same residue modulo 16 bytes, and the same options. With and
// without a workspace the plan, and so the last bits, may differ. A batch so large that its packed operands or partial
// sums do not fit the device's memory, or that its parts are more blocks than a grid holds, may get another plan than
// one matrix of it.
//
// Throws Error, before anything is launched, for: ranks other than 2 and 3 or that differ, shapes that do not match,
// types other than f32, null or misaligned pointers with elements, a C that overlaps itself, A or B, byte offsets
// beyond 63 bits, pointers that the current device does not own, more tiles of C than a grid holds, a workspace that is
// too small, misaligned or overlaps an operand.
void gemm(float alpha, Tensor const& A, Tensor const& B, float beta, Tensor const& C, cudaStream_t stream = nullptr,
          GemmOptions const& options = {});

// The bytes of workspace that the fastest plan for these arguments on the current device wants; may be 0. Two calls
// that may run at the same time need a workspace each.
std::size_t gemm_workspace(float alpha, Tensor const& A, Tensor const& B, float beta, Tensor const& C,
                           Accuracy accuracy = Accuracy::one_level);

// What gemm() would do with these arguments on the current device, and why: a text for people. Launches nothing.
std::string explain_gemm(float alpha, Tensor const& A, Tensor const& B, float beta, Tensor const& C,
                         GemmOptions const& options = {});

}  // namespace inlay
