// A variant checked on the GPU with guard bands around its result.
#pragma once
#include <fmt/format.h>

#include "measure/buffers.h"
#include "measure/device_data.h"
#include "measure/on_device.h"

namespace inlay::lab {

// Poisoned memory with a band before it and one behind, in which nothing may be written.
class Guarded {
 public:
  static constexpr std::int64_t kGuard = 64 << 10;  // a tile that is one row off still lands in it

  Guarded(std::int64_t bytes, cudaStream_t stream)
      : bytes_(bytes), memory_(device_memory(std::size_t(bytes + 2 * kGuard))), stream_(stream) {
    check(cudaMemsetAsync(memory_.get(), kPoison, std::size_t(bytes + 2 * kGuard), stream));
  }
  char* get() const { return memory_.get() + kGuard; }

  // The verdict on what lies between the bands, or on the bands.
  std::string verdict(std::string const& said) const {
    if (said != "ok") return said;
    for (char const* guard : {get() - kGuard, get() + bytes_})
      if (Wrong const wrong = count_unpoisoned(guard, kGuard, stream_); wrong.count)
        return fmt::format("FAILED: {} bytes {} the output were overwritten", wrong.count,
                           guard < get() ? "before" : "behind");
    return "ok";
  }

 private:
  std::int64_t bytes_;
  DeviceMemory memory_;
  cudaStream_t stream_;
};

// "ok", "rejected: ...", "FAILED: ...".
template <RunsOnDevice C>
std::string check_between_guards(Entry<CanonicalOf<C>> const& entry, C const& c) {
  using On = OnDevice<C>;
  auto const operands = Kind<C>::operands(c);
  std::int64_t bytes = On::check_bytes(c) + 2 * Guarded::kGuard;
  for (OperandBuffer const& x : operands) bytes += padded_bytes(x);
  require_memory(c.sentence(), bytes);
  Stream const stream = make_stream();
  std::vector<DeviceMemory> inputs;
  std::vector<void*> addresses;
  for (OperandBuffer const& x : operands)
    if (&x != &operands.back())
      addresses.push_back(inputs.emplace_back(device_memory(std::size_t(padded_bytes(x)))).get());
  Guarded const result(std::int64_t(operands.back().bytes()), stream.get());
  addresses.push_back(result.get());
  CallOf<C> const call = Kind<C>::call(c, addresses);
  return result.verdict(On::check(c, call, stream.get())(On::of_variant(entry, c, call)));
}

}  // namespace inlay::lab
