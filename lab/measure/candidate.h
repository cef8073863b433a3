// A row of a table before it is measured: a kernel, the public function, or a baseline, ready to be launched.
//
// For each case type C, overloads in copy_candidates.h and gemm_candidates.h say how its candidates run on a GPU:
//   of_kernel(entry, c, call)         a kernel as a candidate; `call`: the arguments of one of its launches
//   candidates(c, call, stream, asked, options)  the rows of a table; `asked`: names or "production"; none: all
//   is_baseline(candidate)            the fastest baseline has the share 1
//   work(c, candidate)                the work of a launch, in the unit of the rate times one millisecond
//   make_checker(c, call, stream)     checks results:
//     checker(candidate)                fills the operands of `call`, launches the candidate, and checks the result
//     checker.fill(call)                fills the operands with the values used for timing
//     checker.again(candidate, calls, all_sets)  poisons the results of all sets of buffers, runs `all_sets`, which
//                                     launches as in the timing, and compares each result
//                                     Both throw Error if a kernel fails on the GPU
//   check_bytes(c)                    device memory that the checker allocates
//   add_errors(c, candidates, call, data, rows, stream, progress)  GEMMs: sets the errors of the rows on data sets
//   add_best(c, rows)                 GEMMs: adds a row for the fastest of the cuBLAS baselines
//   peak(c, device, clock_mhz)        the GPU's peak rate; 0: unknown
//   public_call(c, call, workspace, bytes)   for the host time of a call
#pragma once
#include <cuda_runtime_api.h>
#include <inlay/planner/plan.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "measure/buffers.h"
#include "measure/cuda_handles.h"
#include "measure/measurements.h"
#include "problems/case.h"

namespace inlay::lab {

using model::current_device, planner::Operands;

// A launch only enqueues work, so that it can be captured into a graph.
template <class C>
struct Candidate {
  std::string name;
  std::function<void(typename C::Call const&, cudaStream_t)> launch;
  std::shared_ptr<Guarded const> workspace{};  // null: none
  std::optional<double> predicted_ms{};        // of a candidate of the planner
};

// A workspace, poisoned because no kernel may rely on its contents, between guard bands. Null for 0 bytes.
inline std::shared_ptr<Guarded const> workspace_of(std::size_t bytes) {
  return bytes ? std::make_shared<Guarded const>(std::int64_t(bytes)) : nullptr;
}

// Checks the candidate, then, if that is ok, the guard bands of its workspace.
template <class Checker, class X>
CheckResult checked_with_workspace(Checker& checker, X const& candidate, cudaStream_t stream) {
  CheckResult result = checker(candidate);
  if (candidate.workspace) result.said = candidate.workspace->check_result(result.said, "the workspace", stream);
  return result;
}

// A kernel with its workspace, whose size depends on the alignment of the operands of `call`.
template <class C>
Candidate<C> candidate_of(Entry<typename C::Canonical> const& entry, C const& c, typename C::Call const& call,
                          model::Config const& config = {}) {
  auto const planned = c.canonical(call, &entry.info());
  Device const& device = current_device();
  bool const runs = !entry.info().rejects(planned, device, config);
  auto const workspace = workspace_of(runs ? entry.info().workspace(planned, device) : 0);
  auto const launch = [&entry, &device, c, workspace, config](typename C::Call const& now, cudaStream_t stream) {
    auto const problem = c.canonical(now, &entry.info());
    if (Reason const reason = entry.info().rejects(problem, device, config)) throw Rejection(reason.sentence());
    entry.kernel->run(problem, device, workspace ? workspace->get() : nullptr, stream, config);
  };
  return {entry.info().name, launch, workspace};
}

}  // namespace inlay::lab
