// What a kernel does to memory, and how long that takes: counts of a replay, priced by the time model of planner/.
#pragma once
#include <string>
#include <vector>

#include <inlay/planner/time_model.h>
#include <inlay/planner/traffic.h>
#include <inlay/replay/recorder.h>

namespace inlay::explain {
using planner::Counts;
using planner::Device;
using planner::Resource;
using replay::Recorder;
using replay::Site;

// What the counts cannot tell of a kernel: its name and what it computes.
struct Work {
  std::string kernel, what;
  std::string case_name;  // "4096x4096x4096"
  double dram_bytes = 0;  // that have to move at least: each byte of the operands once
  double flops = 0;       // two for a multiply-add of the GEMM itself
};

struct ExplainedSite {
  Site site;
  std::string name;    // "in load", "shared A store"
  std::string advice;  // empty: nothing to gain
  double saves = 0;    // seconds of the whole that following it saves, in the model
  double per_request() const { return site.traffic.per_request(); }
  double ideal() const { return site.traffic.requests ? double(site.ideal) / double(site.traffic.requests) : 0; }
  double useful_share() const;   // of the bytes that sectors bring; global sites
  std::int64_t sectors() const;  // of global memory
};

struct Explanation {
  Work work;
  Device device;
  std::vector<ExplainedSite> sites;
  planner::Demand demand;  // with the launches
  Counts totals;
  std::int64_t tma_load_sectors = 0, tma_store_sectors = 0;
  std::vector<Resource> resources;  // the busiest first
  double seconds = 0;
  std::string limit;  // the resource whose time decides

  std::string advice() const;  // what to change first
  // Why the time may be far off: of a kernel that asks for less than half of what the sectors of an access hold; else
  // empty.
  std::string doubt() const;
};

// Explains what was replayed or sampled.
Explanation explanation_of(Recorder const& recorder, Work work, Device const& device);

// What a replay counted, as a kernel says it in closed form.
Counts counted(Recorder const& recorder);

// "NAME: ok", or how many findings a replay has and the sentences that were kept.
std::string findings_text(Recorder const& recorder);
// In sections, for a terminal of 120 columns.
std::string to_text(Explanation const& explanation);

}  // namespace inlay::explain
