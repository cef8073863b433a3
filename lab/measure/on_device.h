// What the lab must know of a kind of problem (problems/kind.h) to run it on a GPU: OnDevice<C>. It is apart from Kind<C>
// because a build without nvcc has none of it, and because what checks a kernel on the GPU shares nothing with the replay.
//
//   Contender                    one row of a table: Contender<C>, or what adds to it what the judge must know
//   of_variant(entry, c, call)   a variant as one. `call`: one of those that it will be launched with
//   contenders(c, call, stream, asked, options)  the rows of a table; `asked`: names or "production", none: all
//   is_yardstick(contender)      the fastest of these has the share 1
//   best(rows)                   adds what stands for the yardsticks, where they are several ways of one peer
//   work(c, contender)           of a launch, in the rate's unit times a millisecond
//   Judge(c, call, stream)       says what is right:
//     judge(contender)             a launch on `call`, whose operands it fills with what it can judge
//     judge.fill(call)             then: the operands with what is timed
//     judge.again(contender, calls, all_sets)  what was timed, on all sets of buffers: poisons them, has them done, compares
//                                  each. Both throw Error when the GPU fails
//   check_bytes(c)               what the judge allocates itself
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
#include "measure/trials.h"
#include "problems/kind.h"

namespace inlay::lab {

// A launch only enqueues, so that it can be captured into a graph.
template <KindOf C>
struct Contender {
  std::string name;
  std::function<void(CallOf<C> const&, cudaStream_t)> launch;
  std::shared_ptr<Guarded const> workspace{};  // null: it has none
};

template <KindOf C>
struct OnDevice;

template <class C>
concept RunsOnDevice = KindOf<C> && std::derived_from<typename OnDevice<C>::Contender, Contender<C>> &&
    requires(typename OnDevice<C>::Judge& judge, typename OnDevice<C>::Contender const& contender,
             std::vector<CallOf<C>> const& calls, AllSets const& all_sets) {
  { judge(contender) } -> std::same_as<Verdict>;
  { judge.again(contender, calls, all_sets) } -> std::same_as<std::string>;
  judge.fill(calls.front());
};

// With guard bands, and poisoned: nobody may count on what a workspace holds. Null for no bytes.
inline std::shared_ptr<Guarded const> workspace_of(std::size_t bytes) {
  return bytes ? std::make_shared<Guarded const>(std::int64_t(bytes)) : nullptr;
}

// The judge's verdict, or, if that is ok, the one on the bands of the contender's workspace.
template <RunsOnDevice C>
Verdict judged_with_workspace(typename OnDevice<C>::Judge& judge, typename OnDevice<C>::Contender const& contender,
                              cudaStream_t stream) {
  Verdict verdict = judge(contender);
  if (contender.workspace) verdict.said = contender.workspace->verdict(verdict.said, "the workspace", stream);
  return verdict;
}

// A variant on the case as it is, with a workspace of its own: what it wants depends on how the operands are aligned.
template <KindOf C>
Contender<C> contender_of(Entry<CanonicalOf<C>> const& entry, C const& c, CallOf<C> const& call) {
  auto const planned = Kind<C>::canonical(c, call, &entry.info());
  Device const& device = current_device();
  bool const runs = !entry.info().rejects(planned, device);
  auto const workspace = workspace_of(runs ? entry.info().workspace(planned, device) : 0);
  auto const launch = [&entry, &device, c, workspace](CallOf<C> const& now, cudaStream_t stream) {
    auto const problem = Kind<C>::canonical(c, now, &entry.info());
    if (Reason const reason = entry.info().rejects(problem, device)) throw Rejection(reason.sentence());
    entry.variant.run(problem, device, workspace ? workspace->get() : nullptr, stream);
  };
  return {entry.info().name, launch, workspace};
}

}  // namespace inlay::lab
