// GEMM: D = activation(alpha A B + beta C). A call allocates no device memory and does not synchronise; it launches on
// `stream` of the current device. Thread-safe.
#pragma once
#include <inlay/export.h>
#include <inlay/plan.h>
#include <inlay/tensor.h>
#include <inlay/workspace.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace inlay {

/// A packed B: (K,N): a view of the caller's memory, valid until B's elements change. A GEMM on another stream than
/// pack_b()'s must be ordered behind it.
struct PackedB {
  void const* data = nullptr;
  Compute compute{};  ///< Whose format it is.
  std::int64_t K = 0, N = 0;
};

/// Options of a GEMM, of its plan and of its workspace query.
struct GemmOptions {
  /// How sums are formed, of f32 operands: TF32 is never used, tensor cores by the split modes alone.
  Compute compute = Compute::fp32;
  /// Device memory, aligned to 256 bytes. Null: the call uses none.
  void* workspace = nullptr;
  /// Its size in bytes. The call takes the best plan within them; gemm_workspace() are enough for the fastest of all.
  std::size_t workspace_bytes = 0;
  /// What beta scales, of D's type and a shape that is repeated to D's as NumPy does: a vector of N elements is a bias
  /// along n, one of shape (M,1) a bias along m. Not read if beta is 0. None: what D holds before the call.
  std::optional<ConstTensor> C = {};
  /// B packed, for the same Compute: one matrix, which a batch may share. Pass B as well: some plans read it, and so do
  /// GEMMs of split_fast that refuse f16 slices. Null: the call packs B.
  PackedB const* packed_B = nullptr;
};

/// D = activation(alpha A B + beta C), for one matrix or a batch.
///
/// @param A        (M,K), or (L,M,K) with any number of batch modes L before the matrix.
/// @param B        (K,N), or (L,K,N) with the same batch modes; a matrix that a batch shares is B.broadcast({L, K, N}),
///                 with the batch stride 0.
/// @param D        (M,N), or (L,M,N). Must not overlap itself, A or B. A and B have one type: f32, or bf16 or f16,
///                 which tensor cores multiply with sums in fp32. D has it too, or is f32; it is rounded once. Strides
///                 are any: a transposed operand is A.transposed(). Bases are multiples of an element.
/// @param epilogue alpha, beta and the activation. As in BLAS: if beta is 0, neither C nor D is read; if alpha or K is
///                 0, D is scaled and A and B are not read, so that their pointers may be null; if D has no elements,
///                 nothing is launched. Otherwise NaN and infinities propagate.
/// @param stream   Of the current device. While it is being captured, pointers unknown to CUDA count as memory of the
///                 graph.
/// @param options  The default computes in fp32 without a workspace, which is slow where K is long and D small: see
///                 gemm() with a Workspace.
///
/// Batch modes that merge to one in all operands are one launch. Otherwise the longest mode is one, repeated for each
/// index of the remaining ones.
///
/// Deterministic: for one device, one set of extents and strides, the same alignment of the matrices modulo 16 bytes
/// and the same options, the bits are the same on every run and stream, while no tuned choice comes or goes (tuning.h).
/// They are the same for every batch index and batch count too, unless packed operands or partial sums of a batch
/// exceed the workspace or the device's memory: it may get another plan then than one of its matrices alone. A batch
/// that exceeds a grid is computed in chunks, with the same bits. Workspaces of different sizes below gemm_workspace(),
/// or none, may change the last bits. Alignment of a batch:
///   1. Matrices along the longest batch mode, and along modes that merge with it, count as not aligned unless all of
///      them begin at the same address modulo 16 bytes.
///   2. They count as not aligned too if A or B has a negative batch stride along it.
///   3. Matrices along other batch modes count by their own addresses.
///
/// @throws Error  Before anything is launched, for
///                  - ranks below 2 or that differ, shapes that do not match, types other than these or that differ, a
///                    split mode for other operands than f32,
///                  - a C that cannot be repeated to D's shape, or that shares memory with D and is not the same view,
///                  - null or misaligned pointers with elements, byte offsets beyond 63 bits,
///                  - a D that overlaps itself, A or B,
///                  - memory that the current device cannot access, a stream of another device,
///                  - a matrix with more tiles than a grid holds,
///                  - a packed B of another Compute or shape, of a B that is a batch, null, misaligned, or in the way
///                    of D or the workspace,
///                  - a workspace that is misaligned or overlaps an operand.
INLAY_API void gemm(ConstTensor const& A, ConstTensor const& B, Tensor const& D, Epilogue const& epilogue = {},
                    cudaStream_t stream = nullptr, GemmOptions const& options = {});

/// The same on workspace.stream(), with this workspace, which grows to what the call needs (workspace.h).
/// @throws Error  As above, and for options that name another workspace.
INLAY_API void gemm(ConstTensor const& A, ConstTensor const& B, Tensor const& D, Workspace& workspace,
                    Epilogue const& epilogue = {}, GemmOptions const& options = {});

/// Bytes of workspace of the fastest plan for these arguments on the current device; may be 0. Calls that may run at
/// the same time need separate workspaces.
/// @throws Error  As gemm(), but for the workspace.
INLAY_API std::size_t gemm_workspace(ConstTensor const& A, ConstTensor const& B, Tensor const& D,
                                     Epilogue const& epilogue = {}, GemmOptions const& options = {});

/// D = activation(alpha A B + beta D) for groups of rows of A and D, each with a B of its own, in one launch: the
/// experts of a mixture. Group i has the rows from group_ends[i - 1], or 0 for the first group, to group_ends[i].
///
/// @param A           (M,K), of bf16 or f16, contiguous along one mode.
/// @param B           (G,K,N), of A's type: matrix i is that of group i. Each is contiguous along one mode.
/// @param D           (M,N), of that type or f32, with any strides. Rows from the last end on are not written.
/// @param group_ends  G numbers in device memory, in ascending order. The kernel reads them when it runs, so that a
///                    captured call can be replayed with others. A group that ends before it begins is empty; ends
///                    beyond M count as M.
/// @param epilogue    As of gemm(), with C = D.
/// @param stream      As of gemm().
///
/// Needs no workspace. A group's bits depend on its own rows, its B, the extents N and K, and the strides and alignment
/// of the operands, but neither on other groups nor on where its rows begin. On GPUs of compute capability 9.0 wgmma
/// multiplies if A is contiguous along k, and A and B begin at multiples of 16 bytes with pitches and batch strides
/// that are such multiples; otherwise mma.sync, several times slower.
///
/// @throws Error  Before anything is launched, for other ranks and types than these, shapes that do not match, as many
///                ends as B has no matrices, null or misaligned pointers, a D that overlaps itself, A, B or the ends,
///                an operand that is contiguous along no mode, a K above 2^20, memory that the current device cannot
///                access, and a stream of another device.
INLAY_API void grouped_gemm(ConstTensor const& A, ConstTensor const& B, Tensor const& D,
                            std::span<std::int32_t const> group_ends, Epilogue const& epilogue = {},
                            cudaStream_t stream = nullptr);

/// Packs a B of f32 once for many GEMMs: its slices, and for split_fast the scales and refusals of its columns.
/// Launches on `stream` of the current device, does not synchronise.
///
/// @param B        (K,N), a matrix of f32.
/// @param compute  Compute::split_safe or split_fast.
/// @param packed   Device memory, aligned to 256, which the result views.
/// @param bytes    Its size: at least packed_b_bytes().
/// @throws Error   Before anything is launched, for a B that is no matrix of f32 with elements, another Compute, null
///                 pointers, memory that is too small, misaligned, overlaps B or that the device cannot access, and a
///                 device without wgmma (compute capability 9.0).
INLAY_API PackedB pack_b(ConstTensor const& B, Compute compute, void* packed, std::size_t bytes,
                         cudaStream_t stream = nullptr);
/// Bytes for it; B.data is not read. @throws Error as pack_b() for B's shape and type and for another Compute.
INLAY_API std::size_t packed_b_bytes(ConstTensor const& B, Compute compute);

/// The plan that gemm() would run on the current device with a workspace of at most how.most_workspace_bytes. With
/// Choose::measured it runs every candidate that accepts the problem on how.stream, with the workspace of the options,
/// of gemm_workspace() bytes or none; with Choose::predicted, the workspace of the options is not read.
/// @throws Error  As gemm(), and for measuring on a stream that is being captured. With Choose::predicted, inaccessible
///                memory and the workspace are checked by Plan::run().
INLAY_API Plan plan(ConstTensor const& A, ConstTensor const& B, Tensor const& D, Epilogue const& epilogue = {},
                    GemmOptions const& options = {}, PlanOptions const& how = {});

}  // namespace inlay
