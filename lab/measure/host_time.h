// The host time of a call, until its launches are enqueued.
#pragma once
#include <inlay/planner/candidate.h>

#include <algorithm>

#include "measure/buffers.h"
#include "measure/candidate.h"

namespace inlay::lab {

// Medians of 10^4 calls of each in turn, or of as many as the GPU executes in a second. Both must have run without
// error before.
HostTime in_turn(std::function<void()> const& call, std::function<void()> const& bare, cudaStream_t stream);

// The host time of the public function, and of the launches alone that the planner chooses. One set of buffers
// suffices: the contents of the caches do not affect the host.
template <class C>
HostTime host_time(C const& c, cudaStream_t stream) {
  CaseBuffers<C> const buffers(c, 0);
  typename C::Call const call = buffers.call(0);
  make_checker(c, call, stream).fill(call);
  Device const& device = current_device();
  auto const plan = make_plan(c.canonical(call, nullptr), device, true);
  DeviceMemory const workspace = device_memory(std::max<std::size_t>(plan.workspace_bytes, 1));
  auto const function = public_call(c, call, workspace.get(), plan.workspace_bytes);
  Operands const operands = operand_addresses(c, call, workspace.get());
  return in_turn([&] { function(stream); }, [&] { planner::run(plan, device, operands, stream); }, stream);
}

}  // namespace inlay::lab
