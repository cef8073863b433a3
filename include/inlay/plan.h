// A plan: the launches of a copy or a GEMM and the reasons for their choice. It runs with other pointers too.
#pragma once
#include <inlay/export.h>
#include <inlay/tensor.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace inlay {

namespace detail {
struct PlanMaker;
}

/// How plan() chooses a kernel.
enum class Choose {
  predicted,  ///< By predicted time, or as tuning.h says of choices that have been measured; launches nothing.
  measured,  ///< By measured time: runs candidates on `stream`, overwrites the destination, synchronises, may allocate.
};

/// Options of plan().
struct PlanOptions {
  Choose choose = Choose::predicted;
  cudaStream_t stream = nullptr;  ///< Of Choose::measured, which runs candidates on it.
  double milliseconds = 200;      ///< The time that measuring may take, warm-up not counted.
  std::size_t most_workspace_bytes =
      SIZE_MAX;  ///< Of a GEMM with Choose::predicted: its runs have no larger workspace.
};

/// The launches of a copy or a GEMM. A small value; copies share one immutable plan. Thread-safe. plan() in
/// inlay/copy.h and inlay/gemm.h makes a plan for the current device. Making one allocates host memory. Running one
/// never synchronises and never allocates device memory; it may allocate host memory if addresses agree with the plan's
/// modulo 16 bytes only.
class INLAY_API Plan {
 public:
  /// Bytes of workspace that a run needs; may be 0. Runs that may overlap in time need separate workspaces.
  std::size_t workspace_bytes() const;
  /// A text that describes the problem, the chosen kernel with its launches, and every candidate with its reason.
  std::string why() const;

  /// Runs a plan for a copy: dst(i) = src(i).
  ///
  /// @param dst, src  Agree modulo 16 bytes with the addresses that the plan was made with. If one does not agree
  ///             modulo 32, the
  ///                  run is that of copy(), which makes a plan if its cache has none.
  /// @param stream    Of the plan's device. While it is being captured, pointers unknown to CUDA count as memory of the
  ///                  graph.
  /// @throws Error    Before anything is launched, for a plan of a GEMM, another current device, null pointers with
  ///                  elements, addresses that do not agree, a source that overlaps the destination, memory that the
  ///                  device cannot access, and a stream of another device.
  void run(void* dst, void const* src, cudaStream_t stream = nullptr) const;

  /// Runs a plan for a GEMM: D = activation(alpha A B + beta C).
  ///
  /// @param A, B, D         Addresses as above; for those that do not agree modulo 32, the run is that of gemm() with
  ///           this
  ///                        workspace. A plan with a packed B runs with the B it was made with, as long as its packed
  ///                        memory lives.
  /// @param workspace       Device memory, aligned to 256 bytes.
  /// @param workspace_size  Its bytes: at least workspace_bytes().
  /// @param stream          As above.
  /// @param C               If the plan has one of its own, else null.
  /// @throws Error          As above, for a plan of a copy, and for a workspace that is too small, misaligned or
  ///                        overlaps an operand.
  void run(void const* A, void const* B, void* D, cudaStream_t stream = nullptr, void* workspace = nullptr,
           std::size_t workspace_size = 0, void const* C = nullptr) const;

  /// Says of a GEMM with Compute::split_fast whether the last run with this workspace multiplied f16 slices for a
  /// matrix of its batch, and did not refuse them. False for a plan of other kernels, in chunks, or with batch modes
  /// that do not merge. Synchronises.
  ///
  /// @param workspace  Of that run, whose addresses agreed with the plan's modulo 32 bytes: others had another plan.
  /// @param matrix     Its index in the batch.
  /// @param stream     Of that run; must not be captured.
  /// @throws Error     For a null workspace and a matrix that the batch does not have.
  bool took_f16_slices(void const* workspace, std::int64_t matrix = 0, cudaStream_t stream = nullptr) const;

 private:
  friend struct detail::PlanMaker;
  struct Impl;
  explicit Plan(std::shared_ptr<Impl const> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<Impl const> impl_;
};

}  // namespace inlay
