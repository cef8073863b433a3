// A barrier of GPUs that can store to each other's memory: a kernel that tells all others that its stream has come so far, and waits
// for them. inlay/nccl.h uses it; so may who has such memory from elsewhere, such as PyTorch's symmetric memory.
#pragma once
#include <cuda_runtime_api.h>
#include <inlay/export.h>

#include <cstdint>
#include <span>

namespace inlay {

// Bytes of the memory that each rank gives for barriers, zeroed before the first one.
constexpr std::size_t rank_barrier_bytes(int ranks) { return (std::size_t(ranks) + 1) * sizeof(std::uint64_t); }

// Enqueues a barrier. signals[p]: the memory of rank p, as this GPU sees it; null: rank p takes no part. What this stream wrote
// before it, to any of the GPUs, is visible to what the others' streams do after theirs. All ranks that take part enqueue the same
// barriers in the same order, on one stream each. May be captured. Each rank has a host thread or process of its own:
// one thread for two ranks was seen to hang, presumably because CUDA waits for the GPU when it loads a kernel between their barriers. If a rank does not come within a minute, the kernel traps, and CUDA
// reports an error on the others. Takes 2 to 512 ranks.
INLAY_API void rank_barrier(std::span<void* const> signals, int rank, cudaStream_t stream = nullptr);

}  // namespace inlay
