// What a replay tells whoever watches it: accesses, waits and hand-overs, one after the other as they happen here. On a
// GPU threads run side by side; here one runs until it waits, and TMA loads land when nobody else can go on.
#pragma once
#include <cstdint>
#include <functional>

#include <inlay/replay/memory.h>

namespace inlay::replay {

enum class Mechanism;

enum class Happens {
  access,         // of a lane, or of a piece of a box; `store`: into this memory
  commit,         // a group of the thread's cp.async
  landed,         // the thread's next `count` groups
  store_box,      // a TMA store is asked for
  commit_stores,  // a group of those
  stored,         // the next `count` of those
  box,            // a TMA load is asked for, which completes at an mbarrier
  box_landed,
  arrive,  // at an mbarrier
  phase_ends,
  wait,  // the thread may be about to wait, whatever for
  end    // of the thread
};
struct TraceEvent {
  Happens what;
  unsigned block, thread;             // when a box lands or a phase ends: whoever ran last
  Operand const* operand = nullptr;   // of an access or an mbarrier
  std::size_t offset = 0, bytes = 0;  // in the operand
  std::uint64_t address = 0;          // of an access, as the kernel sees it
  char const* data = nullptr;         // its bytes
  Space space{};
  bool store = false;
  Mechanism mechanism{};
  std::size_t count = 0;
};
using Trace = std::function<void(TraceEvent const&)>;

}  // namespace inlay::replay
