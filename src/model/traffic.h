// Counts of the memory requests of a kernel.
#pragma once
#include <inlay/banks.h>

#include <cstdint>

namespace inlay::model {

using banks::Traffic;

// As a replay counts them. TMA counts boxes, and their bytes inside the tensor.
struct Counts {
  Traffic global_load, global_store, shared_store, shared_load;
  Traffic async_copy;           // cp.async: sectors. Nsight Compute does not count its writes to shared memory
  Traffic tma_load, tma_store;  // boxes and bytes
  std::int64_t fma = 0;         // fused multiply-adds of threads, including those on padding
  std::int64_t mma_fma = 0, wgmma_fma = 0;  // the same of mma.sync and of wgmma instructions
  std::int64_t tensor_fma() const { return mma_fma + wgmma_fma; }
  std::int64_t all_fma() const { return fma + tensor_fma(); }
};

}  // namespace inlay::model
