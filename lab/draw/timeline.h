// What goes on beside the threads of a block: loads on their way, stages that are full, read, and filled again.
#pragma once
#include <string>
#include <vector>

#include "draw/watch.h"

namespace inlay::lab {

// A place in the replay of a block, and what had been done by then. -1: never.
struct Moment {
  std::int64_t at = -1, fma = 0, accesses = 0;
  bool is_known() const { return at >= 0; }
};

// One filling of a stage: by groups of cp.async, or by the boxes of a phase of an mbarrier.
struct StageUse {
  std::string stage;  // "stage 0", "raw"
  Moment asked;       // the first request for it
  Moment landed;      // all of it, for all who wait
  Moment first_read, last_read;
  Moment freed;  // when its readers gave it back at an mbarrier
};
struct StoreSpan {
  std::string name;  // "C store (16 B)"
  bool in_flight;    // by TMA: from the request to the end
  Moment begin, end;
};

struct Timeline {
  std::vector<StageUse> uses;  // in the order in which they are asked for
  std::vector<StoreSpan> stores;
  std::vector<unsigned> askers;  // the threads that ask for loads
  char const* by = "";           // "cp.async", "TMA"
  // The most fillings that are on their way at once.
  std::size_t most_in_flight() const;
};

// The timeline of a kernel's first block. Throws what replay_sound does, and UsageError where nothing is asynchronous.
Timeline timeline_of(Entry<Copy> const& entry, TransposeCase const& c);
Timeline timeline_of(Entry<Gemm> const& entry, GemmCase const& c);

std::string draw_timeline(std::string const& title, Timeline const& timeline);

}  // namespace inlay::lab
