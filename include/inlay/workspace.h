// Device memory that the GEMMs of one stream need beside their operands.
#pragma once
#include <cuda_runtime_api.h>
#include <inlay/export.h>

#include <cstddef>

namespace inlay {

/// Memory of cudaMallocAsync that grows to what its calls need.
///
///   inlay::Workspace workspace(stream);
///   inlay::gemm(A, B, D, workspace);
///
/// A growing workspace frees its old memory on the stream, behind the calls that use it; so does its destructor, which must run
/// before the stream is destroyed. All its calls are made while the device of its stream is the current one. Calls that may
/// overlap in time, on several streams or threads, need a workspace each.
class INLAY_API Workspace {
 public:
  /// Allocates nothing. @param stream Of the current device; null: its default stream.
  explicit Workspace(cudaStream_t stream = nullptr) : stream_(stream) {}
  Workspace(Workspace&& other) noexcept;
  Workspace& operator=(Workspace&& other) noexcept;
  ~Workspace();

  /// Grows to at least `bytes`.
  /// @throws Error  If the device has not so much memory, and if it has to grow while the stream is being captured: grow it
  ///                before.
  void reserve(std::size_t bytes);

  /// Aligned to 256 bytes; null: it has not grown yet.
  void* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }
  cudaStream_t stream() const { return stream_; }

 private:
  void release() noexcept;

  cudaStream_t stream_;
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace inlay
