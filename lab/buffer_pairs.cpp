#include "buffer_pairs.h"

#include <fmt/format.h>

#include <algorithm>

#include "device_data.h"
#include "usage_error.h"

namespace inlay::lab {
namespace {

// Buffers of a few bytes would need millions of pairs to fill four L2s; at that size a launch is all there is to time.
constexpr std::int64_t kMostPairs = 4096;

std::int64_t padded(std::int64_t bytes) { return (bytes + 255) / 256 * 256; }

}  // namespace

void require_memory(Case const& c, std::int64_t bytes) {
  std::size_t free = 0, total = 0;
  check(cudaMemGetInfo(&free, &total));
  if (std::size_t(bytes) > free)
    throw UsageError(fmt::format("{} at {} bytes (batch {}) needs {} bytes of GPU memory, {} are free", c.name(),
                                 c.elem_bytes, c.batch, bytes, free));
}

BufferPairs::BufferPairs(Case const& c, std::int64_t l2_bytes, cudaStream_t stream)
    : src_bytes_(padded(c.source_elements() * c.elem_bytes)),
      dst_bytes_(padded(c.destination_elements() * c.elem_bytes)) {
  std::int64_t const pair = src_bytes_ + dst_bytes_;
  count_ = int(std::clamp((4 * l2_bytes + pair - 1) / pair, std::int64_t(1), kMostPairs));
  require_memory(c, pair * count_);
  src_ = device_memory(std::size_t(src_bytes_ * count_));
  dst_ = device_memory(std::size_t(dst_bytes_ * count_));
  for (int k = 0; k < count_; ++k) fill(src_.get() + k * src_bytes_, c.elem_bytes, src_bytes_ / c.elem_bytes, stream);
  check(cudaStreamSynchronize(stream));
}

}  // namespace inlay::lab
