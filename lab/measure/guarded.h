// Checks a kernel on the GPU with guard bands around its result and its workspace.
#pragma once
#include "measure/buffers.h"
#include "measure/candidate.h"

namespace inlay::lab {

// The check result: "ok", "rejected: ..." or "FAILED: ...".
template <class C>
std::string check_between_guards(Entry<typename C::Canonical> const& entry, C const& c) {
  auto const operands = c.operands();
  std::int64_t bytes = check_bytes(c) + 2 * Guarded::kGuard;
  for (OperandBuffer const& x : operands) bytes += padded_bytes(x);
  require_memory(c.sentence(), bytes);
  Stream const stream = make_stream();
  std::vector<DeviceMemory> inputs;
  std::vector<void*> addresses;
  for (OperandBuffer const& x : operands)
    if (&x != &operands.back())
      addresses.push_back(inputs.emplace_back(device_memory(std::size_t(padded_bytes(x)))).get());
  Guarded const result(std::int64_t(operands.back().bytes()));
  addresses.push_back(result.get());
  typename C::Call const call = c.call(addresses);
  auto checker = make_checker(c, call, stream.get());
  return result.check_result(checked_with_workspace(checker, of_kernel(entry, c, call), stream.get()).said,
                             "the output", stream.get());
}

}  // namespace inlay::lab
