#include <inlay/error.h>
#include <inlay/workspace.h>

#include "access.h"

#include <string>
#include <utility>

namespace inlay {

Workspace::Workspace(Workspace&& other) noexcept
    : stream_(other.stream_),
      data_(std::exchange(other.data_, nullptr)),
      bytes_(std::exchange(other.bytes_, 0)),
      most_bytes_(other.most_bytes_) {}
Workspace& Workspace::operator=(Workspace&& other) noexcept {
  std::swap(stream_, other.stream_), std::swap(data_, other.data_), std::swap(bytes_, other.bytes_);
  std::swap(most_bytes_, other.most_bytes_);
  return *this;
}
Workspace::~Workspace() { release(); }

void Workspace::release() noexcept {
  if (data_) (void)cudaFreeAsync(data_, stream_);  // fails where the program ends and CUDA has ended
  data_ = nullptr, bytes_ = 0;
}

void Workspace::reserve(std::size_t bytes) {
  if (bytes <= bytes_) return;
  if (bytes > most_bytes_)
    throw Error(
        "the workspace grows to " + std::to_string(most_bytes_) + " bytes at most, not to " + std::to_string(bytes),
        ErrorCode::workspace);
  if (is_capturing(stream_))
    throw Error("the workspace has " + std::to_string(bytes_) + " bytes and cannot grow to " + std::to_string(bytes) +
                    " while its stream is captured: reserve() them before",
                ErrorCode::workspace);
  release();
  detail::check(cudaMallocAsync(&data_, bytes, stream_));
  bytes_ = bytes;
}

}  // namespace inlay
