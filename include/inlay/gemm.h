// GEMM: D = activation(alpha A B + beta C). A call allocates no device memory and does not synchronise; it launches on `stream` of the
// current device. Thread-safe.
#pragma once
#include <inlay/export.h>
#include <inlay/plan.h>
#include <inlay/tensor.h>
#include <inlay/workspace.h>

#include <cstddef>
#include <optional>

namespace inlay {

// A packed B: (K,N): a view of the caller's memory, valid until B's elements change. A GEMM on another stream than pack_b()'s must be
// ordered behind it.
struct PackedB {
  void const* data = nullptr;
  Compute compute{};  // whose format it is
  std::int64_t K = 0, N = 0;
};

// Options of a GEMM, of its plan and of its workspace query.
struct GemmOptions {
  Compute compute = Compute::fp32;  // of f32 operands: TF32 is never used, tensor cores by the split modes alone
  void* workspace = nullptr;        // device memory, aligned to 256 bytes; null: the call uses none
  std::size_t workspace_bytes =
      0;  // of it; the call takes the best plan within them, and gemm_workspace() are enough for all
  // What beta scales, of D's type and a shape that is repeated to D's as NumPy does: a vector of N elements is a bias along n, one of
  // shape (M,1) a bias along m. Null: what D holds before the call.
  std::optional<ConstTensor> C = {};
  // B packed, for the same Compute. B is one matrix, which a batch may share. Pass B as well: some plans read it, and so do GEMMs of
  // split_fast that refuse f16 slices. Null: it is packed by the call.
  PackedB const* packed_B = nullptr;
};

// D = epilogue(A B): activation(alpha A B + beta C) for views A: (M,K), B: (K,N), D: (M,N). A and B have one type: f32, or bf16 or f16, which
// tensor cores multiply with sums in fp32. D has it too, or is f32; it is rounded once. Or a batch, with the same batch modes before these in all three: (L,M,K), (L,K,N), (L,M,N),
// or batch and heads of attention. Any strides: a transposed operand is A.transposed(), a matrix shared by a batch has the batch stride
// 0. Bases are multiples of an element. Batch modes that merge to one in all operands are one launch. Otherwise the longest mode is,
// repeated for each index of the remaining ones.
//
// As in BLAS: if beta == 0, neither C nor D is read; if alpha == 0 or K == 0, D is scaled and A and B are not read, so their
// pointers may be null; if D has no elements, nothing is launched. Otherwise NaN and Inf propagate.
//
// Deterministic: for one device, one set of extents and strides, the same alignment of the matrices modulo 16 bytes and
// the same options, the bits are the same on every run and stream and for every batch index and batch count, while no tuned choice
// comes or goes (tuning.h). Alignment of a batch:
//   1. Matrices along the longest batch mode, and along modes that merge with it, count as not aligned unless all of them begin at the
//      same address modulo 16 bytes.
//   2. They count as not aligned too if A or B has a negative batch stride along it.
//   3. Matrices along other batch modes count by their own addresses.
// Plans with workspaces of different sizes below gemm_workspace(), or without one, may differ, and so may their last bits. A batch whose
// packed operands or partial sums exceed the workspace or the device's memory may get another plan than one of its matrices. A batch that exceeds a grid is computed in chunks,
// with the same bits.
//
// Throws Error, before anything is launched, for: ranks below 2 or that differ, shapes that do not match,
// types other than these or that differ, a C that cannot be repeated to D's shape, or that shares memory with D and is not the same view, null or misaligned pointers with elements, a D that overlaps itself, A or B, byte offsets
// beyond 63 bits, memory that the current device cannot access, a stream of another device, a matrix with more tiles
// than a grid holds, a packed B of another Compute or shape, of a B that is a batch, null, misaligned, or in the way of D or the workspace, a workspace that is misaligned or
// overlaps an operand. While `stream` is being
// captured, pointers unknown to CUDA count as memory of the graph.
INLAY_API void gemm(ConstTensor const& A, ConstTensor const& B, Tensor const& D, Epilogue const& epilogue = {},
                    cudaStream_t stream = nullptr, GemmOptions const& options = {});

// The same on workspace.stream(), with this workspace, which grows to what the call needs (workspace.h). Throws Error too for options that
// name another workspace.
INLAY_API void gemm(ConstTensor const& A, ConstTensor const& B, Tensor const& D, Workspace& workspace,
                    Epilogue const& epilogue = {}, GemmOptions const& options = {});

// Bytes of workspace of the fastest plan for these arguments on the current device; may be 0. Calls that may run at the
// same time need separate workspaces.
INLAY_API std::size_t gemm_workspace(ConstTensor const& A, ConstTensor const& B, Tensor const& D,
                                     Epilogue const& epilogue = {}, GemmOptions const& options = {});

// Packs a B: (K,N) of f32 once for many GEMMs with Compute::split_safe or split_fast: its slices, and for split_fast the scales and
// refusals of its columns. Launches on `stream` of the current device, does not synchronise. packed: device memory of `bytes` bytes, at
// least packed_b_bytes(), aligned to 256, which the result views. Throws Error, before anything is launched, for a B that is no matrix
// of f32 with elements, another Compute, null pointers, memory that is too small, misaligned or overlaps B or that the device cannot
// access, and for a device without wgmma (compute capability 9.0).
INLAY_API PackedB pack_b(ConstTensor const& B, Compute compute, void* packed, std::size_t bytes,
                         cudaStream_t stream = nullptr);
// Bytes for it; B.data is not read. Throws Error as above for B's shape and type and for another Compute.
INLAY_API std::size_t packed_b_bytes(ConstTensor const& B, Compute compute);

// The plan that gemm() would run on the current device with a workspace of at most how.most_workspace_bytes; that of the options
// is read by Choose::measured alone. Throws like gemm(),
// except for inaccessible memory and for the workspace, which Plan::run() checks. With Choose::measured it runs every candidate
// that accepts the problem on how.stream, with the workspace of the options, of gemm_workspace() bytes or none; it throws like
// gemm() then, and for a stream that is being captured.
INLAY_API Plan plan(ConstTensor const& A, ConstTensor const& B, Tensor const& D, Epilogue const& epilogue = {},
                    GemmOptions const& options = {}, PlanOptions const& how = {});

}  // namespace inlay
