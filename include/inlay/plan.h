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

// How plan() chooses a kernel.
enum class Choose {
  predicted,  // by predicted time, or as tuning.h says of choices that have been measured; launches nothing
  measured,   // by measured time: runs candidates on `stream`, overwrites the destination, synchronises, may allocate
};

// Options of plan().
struct PlanOptions {
  Choose choose = Choose::predicted;
  cudaStream_t stream = nullptr;                // of Choose::measured, which runs candidates on it
  double milliseconds = 200;                    // the time that measuring may take, warm-up not counted
  std::size_t most_workspace_bytes = SIZE_MAX;  // of a GEMM with Choose::predicted: its runs have no larger workspace
};

// A small value; copies share one immutable plan. Thread-safe. plan() in inlay/copy.h and inlay/gemm.h makes a plan for
// the current device. Making a plan allocates host memory. Running one never synchronises and never allocates device memory; it
// may allocate host memory if addresses agree with the plan's modulo 16 bytes only.
class INLAY_API Plan {
 public:
  // Bytes of workspace that a run needs; may be 0. Runs that may overlap in time need separate workspaces.
  std::size_t workspace_bytes() const;
  // A text that describes the problem, the chosen kernel with its launches, and every candidate with its reason.
  std::string why() const;

  // Runs a plan for a copy: dst(i) = src(i). Each address agrees modulo 16 bytes with that of the tensor that the plan
  // was made with. If one does not agree modulo 32, the run is that of copy(), which makes a plan if its cache has none.
  void run(void* dst, void const* src, cudaStream_t stream = nullptr) const;
  // Runs a plan for a GEMM: D = epilogue(A B). Addresses as above; for others modulo 32, the run is that of gemm() with
  // this workspace. `workspace`: device memory of workspace_size bytes, at least workspace_bytes(), aligned to 256.
  // C: if the plan has one of its own. A plan with a packed B runs with the B it was made with, as long as its packed
  // memory lives.
  void run(void const* A, void const* B, void* D, cudaStream_t stream = nullptr, void* workspace = nullptr,
           std::size_t workspace_size = 0, void const* C = nullptr) const;
  // Both throw Error, before anything is launched, for: a plan of the other kind, another current device, null pointers
  // with elements, addresses that do not agree modulo 16 bytes, operands that overlap the destination, memory that the
  // device cannot access, a workspace that is too small, and a stream of another device. While `stream` is being
  // captured, pointers unknown to CUDA count as memory of the graph.

  // Says of a GEMM with Compute::split_fast whether the last run with this workspace multiplied f16 slices for this matrix of its batch, and did
  // not refuse them. False for a plan of other kernels, in chunks, or with batch modes that do not merge. The addresses of that run agree with the plan's
  // modulo 32 bytes: others had another plan. Synchronises `stream`, that
  // of the run, which must not be captured. Throws Error for a null workspace and a matrix that the batch does not have.
  bool took_f16_slices(void const* workspace, std::int64_t matrix = 0, cudaStream_t stream = nullptr) const;

 private:
  friend struct detail::PlanMaker;
  struct Impl;
  explicit Plan(std::shared_ptr<Impl const> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<Impl const> impl_;
};

}  // namespace inlay
