#include "measure/buffers.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "measure/device_data.h"
#include "usage_error.h"

namespace inlay::lab {
namespace {

// Buffers of a few bytes would need millions of sets to fill four L2 caches. The time of such small cases is that of
// the launch.
constexpr std::int64_t kMostSets = 4096;

}  // namespace

std::int64_t padded_bytes(OperandBuffer const& operand) { return (std::int64_t(operand.bytes()) + 255) / 256 * 256; }

void require_memory(std::string const& whose, std::int64_t bytes) {
  std::size_t free = 0, total = 0;
  check(cudaMemGetInfo(&free, &total));
  if (std::size_t(bytes) > free)
    throw UsageError(fmt::format("{} needs {} bytes of GPU memory, {} are free", whose, bytes, free));
}

Guarded::Guarded(std::int64_t bytes) : bytes_(bytes), memory_(device_memory(std::size_t(bytes + 2 * kGuard))) {
  check(cudaMemset(memory_.get(), kPoison, std::size_t(bytes + 2 * kGuard)));
  check(cudaStreamSynchronize(nullptr));  // non-blocking streams do not wait for the default stream
}

std::string Guarded::check_result(std::string const& said, char const* what, cudaStream_t stream) const {
  if (said != "ok") return said;
  for (char const* guard : {get() - kGuard, get() + bytes_})
    if (Wrong const wrong = count_unpoisoned(guard, kGuard, stream); wrong.count)
      return fmt::format("FAILED: {} bytes {} {} were overwritten", wrong.count, guard < get() ? "before" : "behind",
                         what);
  return "ok";
}

BufferSets::BufferSets(std::string const& whose, std::vector<OperandBuffer> const& operands, std::int64_t l2_bytes) {
  for (OperandBuffer const& x : operands) bytes_.push_back(padded_bytes(x));
  std::int64_t const set = std::accumulate(bytes_.begin(), bytes_.end(), std::int64_t(0));
  count_ = int(std::clamp((4 * l2_bytes + set - 1) / set, std::int64_t(1), kMostSets));
  require_memory(whose, set * count_);
  for (std::int64_t b : bytes_) memory_.push_back(device_memory(std::size_t(b * count_)));
}

std::vector<void*> BufferSets::at(int set) const {
  std::vector<void*> addresses;
  for (std::size_t i = 0; i < bytes_.size(); ++i) addresses.push_back(memory_[i].get() + set * bytes_[i]);
  return addresses;
}

}  // namespace inlay::lab
