// Device memory that the GEMMs of one stream need beside their operands.
#pragma once
#include <cuda_runtime_api.h>
#include <inlay/export.h>

#include <cstddef>
#include <cstdint>

namespace inlay {

/// Memory of cudaMallocAsync that grows to what its calls need.
///
///   inlay::Workspace workspace(stream);
///   inlay::gemm(A, B, D, workspace);
///
/// A growing workspace frees its old memory on the stream, behind the calls that use it; so does its destructor, which
/// must run before the stream is destroyed. A captured graph keeps the address: reserve() before the capture, and let
/// the workspace neither grow nor end while the graph lives. All its calls are made while the device of its stream is
/// the current one. Calls that may overlap in time, on several streams or threads, need a workspace each.
class INLAY_API Workspace {
 public:
  /// Allocates nothing.
  /// @param stream      Of the current device; null: its default stream.
  /// @param most_bytes  The most that it grows to: a GEMM that wants more runs with the best plan within them.
  explicit Workspace(cudaStream_t stream = nullptr, std::size_t most_bytes = SIZE_MAX)
      : stream_(stream), most_bytes_(most_bytes) {}
  Workspace(Workspace&& other) noexcept;
  Workspace& operator=(Workspace&& other) noexcept;
  ~Workspace();

  /// Grows to at least `bytes`.
  /// @throws Error  If these are more than most_bytes(), if the device has not so much memory, and if it has to grow
  ///                while the stream is being captured: grow it before.
  void reserve(std::size_t bytes);

  /// Aligned to 256 bytes; null: it has not grown yet.
  void* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }
  std::size_t most_bytes() const { return most_bytes_; }
  cudaStream_t stream() const { return stream_; }

 private:
  void release() noexcept;

  cudaStream_t stream_;
  void* data_ = nullptr;
  std::size_t bytes_ = 0, most_bytes_;
};

}  // namespace inlay
