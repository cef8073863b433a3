// What a kernel asks of memory, as numbers.
#pragma once
#include <cstdint>

namespace inlay::planner {

// Warp requests and what they cost: 32-byte sectors in global memory, wavefronts in shared memory.
struct Traffic {
  std::int64_t requests = 0, transactions = 0;
  double per_request() const { return requests ? double(transactions) / double(requests) : 0; }
  friend bool operator==(Traffic const&, Traffic const&) = default;
};
inline Traffic& operator+=(Traffic& sum, Traffic const& t) {
  sum.requests += t.requests, sum.transactions += t.transactions;
  return sum;
}

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
