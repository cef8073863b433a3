// A plan: what a call would launch, and why. Made once, run often, with other pointers too.
#pragma once
#include <inlay/tensor.h>

#include <cstddef>
#include <memory>
#include <string>

namespace inlay {

// A small value; copies share one plan, which never changes: safe to use from many threads. plan() of inlay/copy.h and
// inlay/gemm.h make it, for the device that is current then. Making one allocates memory of the host; running one does
// not, and neither does it synchronise.
class Plan {
 public:
  // The bytes of workspace that a run needs; may be 0. Runs that may overlap in time need a workspace each.
  std::size_t workspace_bytes() const;
  // The problem, the choice and its steps, and every candidate with its reason: a text for people.
  std::string why() const;

  // dst(i) = src(i) at other addresses, by a plan for a copy. Each address agrees modulo 32 bytes with that of the tensor
  // that the plan was made with.
  void run(void* dst, void const* src, cudaStream_t stream = nullptr) const;
  // D = epilogue(A B) with other operands, by a plan for a GEMM. Each address agrees modulo 32 bytes with that of the tensor
  // that the plan was made with. `workspace`: device memory of `workspace_size` bytes, at least
  // workspace_bytes(), that begins at a multiple of 256.
  void run(void const* A, void const* B, void* D, cudaStream_t stream = nullptr, void* workspace = nullptr,
           std::size_t workspace_size = 0) const;
  // Both throw Error, before anything is launched, for: a plan of the other kind, another current device, null pointers
  // with elements, addresses that do not agree modulo 32 bytes, operands that overlap the destination, memory that the
  // device cannot access, a workspace that is too small, and a stream of another device. While `stream` is captured,
  // pointers that CUDA does not know are memory of the graph.

  struct Impl;
  explicit Plan(std::shared_ptr<Impl const> impl) : impl_(std::move(impl)) {}

 private:
  std::shared_ptr<Impl const> impl_;
};

}  // namespace inlay
