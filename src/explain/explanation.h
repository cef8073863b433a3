// What a kernel does to memory, and how long that takes: counts of a replay, priced by a small model of a GPU.
//
// The model: a kernel takes as long as the memory or the L1 that it keeps busy longer, and a part of the other's time,
// which is not hidden. Multiply-adds and what stands beside them in a multiprocessor take turns. All of it begins when
// the first loads have come back, and few blocks wait longer than they work. docs/04_measuring.md says how the
// constants were found and how far off the times are.
#pragma once
#include <string>
#include <vector>

#include "explain/gpu.h"
#include "explain/occupancy.h"
#include "replay/recorder.h"

namespace inlay {

// What the counts cannot tell of a kernel: its name and what it computes.
struct Work {
  std::string variant, what;
  std::string case_name;  // "4096x4096x4096"
  double dram_bytes = 0;  // that have to move at least: each byte of the operands once
  double flops = 0;       // two for a multiply-add of the product itself
};

struct ExplainedSite {
  Site site;
  std::string name;    // "in load", "shared A store"
  std::string advice;  // empty: nothing to gain
  double per_request() const { return site.traffic.per_request(); }
  double ideal() const { return site.traffic.requests ? double(site.ideal) / double(site.traffic.requests) : 0; }
  double useful_share() const;  // of the bytes that sectors bring; global sites
};

struct Resource {
  std::string name;
  double seconds;  // that it is busy for, if nothing else holds it up
  std::string why;
};

struct Explanation {
  Work work;
  Gpu gpu;
  std::vector<ExplainedSite> sites;
  std::vector<Launch> launches;
  Cost totals;
  std::int64_t exposed_loads = 0;
  std::int64_t tma_load_sectors = 0, tma_store_sectors = 0;
  std::vector<Resource> resources;  // the busiest first
  double seconds = 0;
  std::string limit;  // the resource whose time decides

  std::string advice() const;  // what to change first
};

// Of what was replayed or sampled.
Explanation explain(Recorder const& recorder, Work work, Gpu const& gpu);

// "NAME: ok", or how many findings a replay has and the sentences that were kept.
std::string findings_text(Recorder const& recorder);
// In sections, for a terminal of 120 columns.
std::string to_text(Explanation const& explanation);

}  // namespace inlay
