// What is measured in a row of a table: a kernel, the public function, or a baseline, ready to be launched.
//
// For each type of case C, overloads in copy_candidates.h and gemm_candidates.h say how it runs on a GPU:
//   of_kernel(entry, c, call)         a kernel as a candidate; `call`: one of those that it will be launched with
//   candidates(c, call, stream, asked, options)  the rows of a table; `asked`: names or "production"; empty: all
//   is_baseline(candidate)            the fastest baseline has the share 1
//   work(c, candidate)                of a launch, in the rate's unit times a millisecond
//   make_checker(c, call, stream)     checks results:
//     checker(candidate)                one launch on `call`, whose operands it fills with values that it can check
//     checker.fill(call)                fills the operands with the values that are timed
//     checker.again(candidate, calls, all_sets)  checks what was timed: poisons the results of all sets of buffers, runs `all_sets`,
//                                     compares each result. Both throw Error if the GPU fails
//   check_bytes(c)                    device memory that the checker allocates
//   add_best(c, rows)                 adds a row for the fastest of several forms of one baseline
//   peak(c, device, clock_mhz)        of the rate; 0: unknown
//   public_call(c, call, workspace, bytes), operand_addresses(c, call, workspace)   to measure host time
#pragma once
#include <cuda_runtime_api.h>
#include <inlay/planner/plan.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "measure/buffers.h"
#include "measure/cuda_handles.h"
#include "measure/measurements.h"
#include "problems/case.h"

namespace inlay::lab {

using planner::current_device, planner::Operands;

// A launch only enqueues work, so that it can be captured into a graph.
template <class C>
struct Candidate {
  std::string name;
  std::function<void(typename C::Call const&, cudaStream_t)> launch;
  std::shared_ptr<Guarded const> workspace{};  // null: none
};

// Poisoned memory between guard bands: no kernel may rely on what a workspace holds. Null for 0 bytes.
inline std::shared_ptr<Guarded const> workspace_of(std::size_t bytes) {
  return bytes ? std::make_shared<Guarded const>(std::int64_t(bytes)) : nullptr;
}

// The result of the check, or, if it is ok, of the check of the guard bands of the candidate's workspace.
template <class Checker, class X>
CheckResult checked_with_workspace(Checker& checker, X const& candidate, cudaStream_t stream) {
  CheckResult result = checker(candidate);
  if (candidate.workspace) result.said = candidate.workspace->check_result(result.said, "the workspace", stream);
  return result;
}

// A kernel with a workspace of its own, whose size depends on how the operands of `call` are aligned.
template <class C>
Candidate<C> candidate_of(Entry<typename C::Canonical> const& entry, C const& c, typename C::Call const& call) {
  auto const planned = c.canonical(call, &entry.info());
  Device const& device = current_device();
  bool const runs = !entry.info().rejects(planned, device);
  auto const workspace = workspace_of(runs ? entry.info().workspace(planned, device) : 0);
  auto const launch = [&entry, &device, c, workspace](typename C::Call const& now, cudaStream_t stream) {
    auto const problem = c.canonical(now, &entry.info());
    if (Reason const reason = entry.info().rejects(problem, device)) throw Rejection(reason.sentence());
    entry.kernel.run(problem, device, workspace ? workspace->get() : nullptr, stream);
  };
  return {entry.info().name, launch, workspace};
}

}  // namespace inlay::lab
