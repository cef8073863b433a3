// `inlay draw timeline`: the asynchronous loads of a block, and the stages of shared memory that they fill.
#pragma once
#include <string>
#include <vector>

#include "draw/watch.h"

namespace inlay::lab {

// A moment in the replay of a block: the number of its event, and the FMAs and accesses of the block before that event.
struct Moment {
  std::int64_t at = -1;  // -1: the event never happened
  std::int64_t fma = 0, accesses = 0;
  bool is_known() const { return at >= 0; }
};

// One use of a stage, filled by a group of cp.async, or by the TMA boxes of one phase of an mbarrier.
struct StageUse {
  std::string stage;  // "stage 0"; "raw": a tile that threads transpose into a stage
  Moment asked;       // the first load is issued
  Moment landed;  // the last thread's wait for its group ends, or the phase of the mbarrier "full" or "raw_full" does
  Moment first_read, last_read;
  Moment freed;  // the phase of the mbarrier "empty" ends
};
struct StoreSpan {
  std::string name;  // "C store (16 B)"
  bool in_flight;    // a store by TMA lasts from its issue to the end of the wait for it
  Moment begin, end;
};

struct Timeline {
  std::vector<StageUse> uses;  // in the order of their first loads
  std::vector<StoreSpan> stores;
  std::vector<unsigned> askers;  // the threads that issue the loads
  char const* by = "";           // "cp.async", "TMA"
  // The most uses whose loads are in flight at once.
  std::size_t most_in_flight() const;
};

// The timeline of a kernel's first block. Throws as replay_sound does, and UsageError when the kernel has no
// asynchronous loads.
Timeline timeline_of(Entry<Copy> const& entry, CopyCase const& c);
Timeline timeline_of(Entry<Gemm> const& entry, GemmCase const& c);

std::string draw_timeline(std::string const& title, Timeline const& timeline);

}  // namespace inlay::lab
