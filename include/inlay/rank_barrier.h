// A barrier between GPUs that can store to each other's memory: a kernel that signals all other ranks that its stream
// has reached this point, and waits for their signals. inlay/nccl.h uses it; it also works on memory from elsewhere,
// such as PyTorch's symmetric memory.
#pragma once
#include <cuda_runtime_api.h>
#include <inlay/export.h>

#include <cstdint>
#include <span>

namespace inlay {

/// Bytes of signal memory on each rank for barriers of `ranks` ranks. The caller fills it with zeros before the first
/// barrier.
constexpr std::size_t rank_barrier_bytes(int ranks) { return (std::size_t(ranks) + 1) * sizeof(std::uint64_t); }

/// Enqueues a barrier on `stream` of the current device, which is the GPU of `rank`. After it, work on this stream sees
/// everything that the streams of the other participating ranks stored before their barriers, in the memory of any of
/// the GPUs.
///
/// Every participating rank enqueues the same barriers in the same order on one stream. Use one host thread, or
/// process, per rank. The call may be captured. If a rank does not reach a barrier within 60 seconds, the barrier
/// kernels of the ranks that wait for it trap, and CUDA reports a launch failure to their processes.
///
/// @param signals  (rank): the signal memory of each rank at the address where this GPU sees it; null: it takes no
///                 part.
/// @throws Error   For more than 512 ranks and for a rank without signal memory.
INLAY_API void rank_barrier(std::span<void* const> signals, int rank, cudaStream_t stream = nullptr);

}  // namespace inlay
