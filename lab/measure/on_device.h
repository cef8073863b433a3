// What the lab must know of a kind of problem (problems/kind.h) to run it on a GPU: OnDevice<C>. It is apart from Kind<C>
// because a build without nvcc has none of it, and because what checks a kernel on the GPU shares nothing with the replay.
//
//   Contender                    one row of a table: Contender<C>, or what adds to it what the checker must know
//   of_variant(entry, c, call)   a kernel as one. `call`: one of those that it will be launched with
//   candidates(c, call, stream, asked, options)  the rows of a table; `asked`: names or "production", none: all
//   is_yardstick(candidate)      the fastest of these has the share 1
//   best(rows)                   adds what stands for the baseline, where they are several ways of one peer
//   work(c, candidate)           of a launch, in the rate's unit times a millisecond
//   Judge(c, call, stream)       says what is right:
//     checker(candidate)             a launch on `call`, whose operands it fills with what it can checker
//     checker.fill(call)             then: the operands with what is timed
//     checker.again(candidate, calls, all_sets)  what was timed, on all sets of buffers: poisons them, has them done, compares
//                                  each. Both throw Error when the GPU fails
//   check_bytes(c)               what the checker allocates itself
//   peak(device, clock_mhz)      of the rate; 0: unknown
//   public_call(c, call, workspace, bytes)  the public function with all its arguments made, and
//   in_order(c, call)            the addresses of a plan's operands: for the host's time
#pragma once
#include <cuda_runtime_api.h>

#include <concepts>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "measure/buffers.h"
#include "measure/cuda_handles.h"
#include "measure/measurements.h"
#include "problems/kind.h"

namespace inlay::lab {

// A launch only enqueues, so that it can be captured into a graph.
template <KindOf C>
struct Candidate {
  std::string name;
  std::function<void(CallOf<C> const&, cudaStream_t)> launch;
  std::shared_ptr<Guarded const> workspace{};  // null: it has none
};

template <KindOf C>
struct OnDevice;

template <class C>
concept RunsOnDevice = KindOf<C> && std::derived_from<typename OnDevice<C>::Candidate, Candidate<C>> &&
    requires(typename OnDevice<C>::Checker& checker, typename OnDevice<C>::Candidate const& candidate,
             std::vector<CallOf<C>> const& calls, AllSets const& all_sets) {
  { checker(candidate) } -> std::same_as<CheckResult>;
  { checker.again(candidate, calls, all_sets) } -> std::same_as<std::string>;
  checker.fill(calls.front());
};

// With guard bands, and poisoned: nobody may count on what a workspace holds. Null for no bytes.
inline std::shared_ptr<Guarded const> workspace_of(std::size_t bytes) {
  return bytes ? std::make_shared<Guarded const>(std::int64_t(bytes)) : nullptr;
}

// The checker's check result, or, if that is ok, the one on the bands of the candidate's workspace.
template <RunsOnDevice C>
CheckResult checked_with_workspace(typename OnDevice<C>::Checker& checker,
                                   typename OnDevice<C>::Candidate const& candidate, cudaStream_t stream) {
  CheckResult check_result = checker(candidate);
  if (candidate.workspace)
    check_result.said = candidate.workspace->check_result(check_result.said, "the workspace", stream);
  return check_result;
}

// A kernel on the case as it is, with a workspace of its own: what it wants depends on how the operands are aligned.
template <KindOf C>
Candidate<C> candidate_of(Entry<CanonicalOf<C>> const& entry, C const& c, CallOf<C> const& call) {
  auto const planned = Kind<C>::canonical(c, call, &entry.info());
  Device const& device = current_device();
  bool const runs = !entry.info().rejects(planned, device);
  auto const workspace = workspace_of(runs ? entry.info().workspace(planned, device) : 0);
  auto const launch = [&entry, &device, c, workspace](CallOf<C> const& now, cudaStream_t stream) {
    auto const problem = Kind<C>::canonical(c, now, &entry.info());
    if (Reason const reason = entry.info().rejects(problem, device)) throw Rejection(reason.sentence());
    entry.kernel.run(problem, device, workspace ? workspace->get() : nullptr, stream);
  };
  return {entry.info().name, launch, workspace};
}

}  // namespace inlay::lab
