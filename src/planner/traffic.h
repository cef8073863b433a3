// What a kernel asks of memory, as numbers.
#pragma once
#include <inlay/banks.h>

#include <cstdint>

namespace inlay::planner {

using banks::Traffic;

// In closed form by a kernel, or counted by a replay: a test holds the two equal. TMA counts boxes and the bytes inside
// bounds.
struct Counts {
  Traffic global_load, global_store, shared_store, shared_load;
  Traffic async_copy;           // cp.async: its sectors; its shared-memory writes are in no ncu counter
  Traffic tma_load, tma_store;  // boxes and bytes
  std::int64_t fma = 0;         // fused multiply-adds of threads, those on padding included
};
// `times` blocks of these counts.
void add(Counts& sum, Counts const& block, std::int64_t times);

}  // namespace inlay::planner
