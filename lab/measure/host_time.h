// The host time of a call, until its launches are enqueued.
#pragma once
#include <inlay/planner/candidate.h>

#include <algorithm>

#include "measure/buffers.h"
#include "measure/candidate.h"
#include "measure/device_clock.h"

namespace inlay::lab {

// Medians of 10^4 calls of each in turn, or of as many as the GPU executes in a second. Both must have run without
// error before.
HostTime in_turn(std::function<void()> const& call, std::function<void()> const& bare, cudaStream_t stream);

// How many kernels a plan launches, whose launches have been made.
inline std::int64_t launches_of(planner::Plan const& plan) {
  std::int64_t n = 0;
  planner::for_each_launch(plan, {},
                           [&](auto const& l, auto const&) { n += l.made ? std::int64_t(l.made->count()) : 1; });
  return n;
}

// The host time of the public function, and of as many launches of a kernel that does nothing. One set of buffers
// suffices: the contents of the caches do not affect the host.
template <class C>
HostTime host_time(C const& c, cudaStream_t stream) {
  CaseBuffers<C> const buffers(c, 0);
  typename C::Call const call = buffers.call(0);
  make_checker(c, call, stream).fill(call);
  Device const& device = current_device();
  auto plan = planner::make_plan(c.canonical(call, nullptr), device, true);
  planner::make_launches(plan, device);
  DeviceMemory const workspace = device_memory(std::max<std::size_t>(plan.workspace_bytes, 1));
  auto const function = public_call(c, call, workspace.get(), plan.workspace_bytes);
  auto const bare = [n = launches_of(plan), stream] {
    for (std::int64_t i = 0; i < n; ++i) launch_nothing(stream);
  };
  return in_turn([&] { function(stream); }, bare, stream);
}

}  // namespace inlay::lab
