#include "measure/buffers.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "measure/device_data.h"
#include "usage_error.h"

namespace inlay::lab {
namespace {

// Buffers of a few bytes would need millions of sets to fill four L2s; at that size a launch is all there is to time.
constexpr std::int64_t kMostSets = 4096;

}  // namespace

void require_memory(std::string const& whose, std::int64_t bytes) {
  std::size_t free = 0, total = 0;
  check(cudaMemGetInfo(&free, &total));
  if (std::size_t(bytes) > free)
    throw UsageError(fmt::format("{} needs {} bytes of GPU memory, {} are free", whose, bytes, free));
}

BufferSets::BufferSets(std::string const& whose, std::vector<std::int64_t> const& bytes, std::int64_t l2_bytes)
    : bytes_(bytes) {
  for (std::int64_t& b : bytes_) b = (b + 255) / 256 * 256;
  std::int64_t const set = std::accumulate(bytes_.begin(), bytes_.end(), std::int64_t(0));
  count_ = int(std::clamp((4 * l2_bytes + set - 1) / set, std::int64_t(1), kMostSets));
  require_memory(whose, set * count_);
  for (std::int64_t b : bytes_) memory_.push_back(device_memory(std::size_t(b * count_)));
}

char* BufferSets::get(int set, int buffer) const { return memory_[std::size_t(buffer)].get() + set * bytes(buffer); }

BufferPairs::BufferPairs(Case const& c, std::int64_t l2_bytes, cudaStream_t stream)
    : sets_(c.sentence(), {c.source_elements() * c.elem_bytes, c.destination_elements() * c.elem_bytes}, l2_bytes) {
  for (int k = 0; k < count(); ++k) fill(sets_.get(k, 0), c.elem_bytes, sets_.bytes(0) / c.elem_bytes, stream);
  check(cudaStreamSynchronize(stream));
}

}  // namespace inlay::lab
