// The memory accesses of a replayed kernel and its predicted time, from the time model of the planner.
#pragma once
#include <string>
#include <vector>

#include <inlay/model/time_model.h>
#include <inlay/model/traffic.h>
#include <inlay/replay/recorder.h>

namespace inlay::explain {
using model::Counts;
using model::Device;
using model::Resource;
using replay::Recorder;
using replay::Site;

// What a replay does not count: the name of the kernel and what it computes.
struct Work {
  std::string kernel, what;
  std::string case_name;  // "4096x4096x4096"
  double dram_bytes = 0;  // least DRAM traffic: each byte of the operands once
  double flops = 0;       // of the GEMM itself, two per multiply-add
};

// FMAs of an SM in a clock, by the units that the counts name.
inline int rate_of(Counts const& c, Device const& device) {
  return c.wgmma_fma ? device.wgmma_rate : c.mma_fma ? device.mma_rate : device.fma_lanes;
}

struct ExplainedSite {
  Site site;
  std::string name;    // "in load", "shared A store"
  std::string advice;  // empty: nothing to gain
  double saves = 0;    // predicted seconds that following the advice saves
  double per_request() const { return site.traffic.per_request(); }
  double ideal() const { return site.traffic.requests ? double(site.ideal) / double(site.traffic.requests) : 0; }
  double useful_share() const;   // requested bytes divided by the bytes of the sectors; global memory only
  std::int64_t sectors() const;  // of global memory
};

struct Explanation {
  Work work;
  Device device;
  std::vector<ExplainedSite> sites;
  model::Demand demand;  // with the launches
  Counts totals;
  std::int64_t tma_load_sectors = 0, tma_store_sectors = 0;
  std::vector<Resource> resources;  // the busiest first
  double seconds = 0;
  std::string limit;  // name of the resource that limits the time

  std::string advice() const;  // what to change first
  // Why the predicted time may be far off: an access requests less than half of its sectors' bytes; else empty.
  std::string doubt() const;
};

// Explains what was replayed or sampled.
Explanation explanation_of(Recorder const& recorder, Work work, Device const& device);

// The counts of a replay by mechanism, of all sites together.
Counts counted(Recorder const& recorder);

// "NAME: ok", or the number of findings of a replay and the first sentence of each check.
std::string findings_text(Recorder const& recorder);
// In sections, for a terminal of 120 columns.
std::string to_text(Explanation const& explanation);

}  // namespace inlay::explain
