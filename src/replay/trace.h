// The events of a replay in the order in which the replay executes them. A thread runs until it waits, and a TMA load
// completes when no thread can continue; on a GPU all of them overlap.
#pragma once
#include <cstdint>
#include <functional>

#include <inlay/replay/memory.h>

namespace inlay::replay {

enum class Mechanism;

enum class Happens {
  access,         // a lane, or a chunk of a TMA box, reads or writes memory
  commit,         // the thread commits a group of cp.async copies
  landed,         // the oldest `count` of these groups have completed
  store_box,      // the thread issues a TMA store
  commit_stores,  // the thread commits a group of TMA stores
  stored,         // the oldest `count` of these groups have read shared memory
  box,            // the thread issues a TMA load
  box_landed,     // a TMA load has completed
  arrive,         // the thread arrives at an mbarrier
  phase_ends,     // the phase of an mbarrier completes
  wait,           // the thread is at an operation that may wait
  end             // the thread exits
};
struct TraceEvent {
  Happens what;
  unsigned block, thread;             // that ran last, if a TMA load completes
  Operand const* operand = nullptr;   // accessed, or with the mbarrier
  std::size_t offset = 0, bytes = 0;  // in the operand
  std::uint64_t address = 0;          // access: the address that the kernel sees
  char const* data = nullptr;         // access: the host address
  Space space{};
  bool store = false;
  Mechanism mechanism{};
  std::size_t count = 0;
};
using Trace = std::function<void(TraceEvent const&)>;

}  // namespace inlay::replay
