// What the lab must know of a kind of problem (problems/kind.h) to run it on a GPU: OnDevice<C>. It is apart from Kind<C>
// because a build without nvcc has none of it, and because what checks a kernel on the GPU shares nothing with the replay.
//
//   Contender                    one row of a table: Contender<C>, or what adds to it what the check must know
//   of_variant(entry, c, call)   a variant as one. `call`: one of those that it will be launched with
//   contenders(c, call, stream, asked, options)  the rows of a table; `asked`: names or "production", none: all
//   is_yardstick(contender)      the fastest of these has the share 1
//   work(c, contender)           of a launch, in the rate's unit times a millisecond
//   check(c, call, stream)       fills the operands with what it can judge; then says of a contender "ok", "rejected: ..."
//                                or "FAILED: ...". Throws Error when the GPU fails
//   check_bytes(c)               what it allocates itself
//   fill(c, call, stream)        the operands with what is timed
//   add_errors(c, call, contenders, rows, stream)  to the rows that are right, where rows have errors
//   peak(device, clock_mhz)      of the rate; 0: unknown
//   public_call(c, call, workspace, bytes)  the public function with all its arguments made, and
//   in_order(c, call)            the addresses of a plan's operands: for the host's time
#pragma once
#include <cuda_runtime_api.h>

#include <functional>
#include <string>
#include <vector>

#include "measure/cuda_handles.h"
#include "measure/trials.h"
#include "problems/kind.h"

namespace inlay::lab {

// A launch only enqueues, so that it can be captured into a graph.
template <KindOf C>
struct Contender {
  std::string name;
  std::function<void(CallOf<C> const&, cudaStream_t)> launch;
};

template <KindOf C>
struct OnDevice;

template <class C>
using CheckOf = std::function<std::string(typename OnDevice<C>::Contender const&)>;

template <class C>
concept RunsOnDevice = KindOf<C> && std::derived_from<typename OnDevice<C>::Contender, Contender<C>> &&
    requires(C const& c, CallOf<C> const& call, cudaStream_t stream) {
  { OnDevice<C>::check(c, call, stream) } -> std::same_as<CheckOf<C>>;
};

// A variant on the case as it is, with a workspace of its own: what it wants depends on how the operands are aligned.
template <KindOf C>
std::function<void(CallOf<C> const&, cudaStream_t)> launch_of(Entry<CanonicalOf<C>> const& entry, C const& c,
                                                              CallOf<C> const& call) {
  auto const planned = Kind<C>::canonical(c, call, &entry.info());
  Device const& device = current_device();
  bool const runs = !entry.info().rejects(planned, device);
  auto const workspace = poisoned_workspace(runs ? entry.info().workspace(planned, device) : 0);
  return [&entry, &device, c, workspace](CallOf<C> const& now, cudaStream_t stream) {
    auto const problem = Kind<C>::canonical(c, now, &entry.info());
    if (Reason const reason = entry.info().rejects(problem, device)) throw Rejection(reason.sentence());
    entry.variant.run(problem, device, workspace.get(), stream);
  };
}

}  // namespace inlay::lab
