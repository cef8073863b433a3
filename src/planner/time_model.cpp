#include <inlay/planner/format.h>
#include <inlay/planner/time_model.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace inlay::planner {
namespace {

// ---- The constants, in clocks of a multiprocessor. Fitted on an H200: docs/04_measuring.md says on what. Other sizes
// are judged by them.
constexpr double kOverlap = .11;  // of the L1's time beside the memory's, or the other way round: what is not hidden
constexpr double kOneWave = .75;  // the same where all blocks run at once, and do the same at the same time; with n
                                  // waves of blocks an n-th part, within these two
constexpr double kLoadConflict = .06;  // of a wavefront: what a load's conflict costs beyond a store's
constexpr int kSchedulers = 4;         // of a multiprocessor: instructions of warps in a clock
constexpr double kIssue = 7.4;         // instructions of a copy for a request: addresses, predicates and the request
// Beside the FMAs. A load from shared memory: its issue slots, and the wait for them. With few warps, more of it is
// exposed.
constexpr double kSharedLoad = .49, kEnoughWarps = 16, kFewWarps = 14;
// A request on its way into shared memory: the instructions around it, with their addresses and predicates.
constexpr double kSharedStore = 4, kAsyncCopy = 4.7;
constexpr double kConflict = .8;  // a wavefront beyond the ideal
// A load from global memory that nothing hides, until another block of the multiprocessor has something to do.
constexpr double kExposed = 820;
// Where blocks have nothing else to do: from such a load through shared memory and a barrier.
constexpr double kLoadLatency = 500;
constexpr double kWarpStart = 20;  // of a block: results/h200/latency.md

// The launch that does the work: what comes before and after it holds no tiles.
LaunchDemand const& main_launch(Demand const& x) {
  auto const size = [](LaunchDemand const& l) {
    return std::pair(double(l.blocks) * double(l.shared_bytes), double(l.blocks) * l.threads);
  };
  return *std::max_element(x.launches.begin(), x.launches.end(),
                           [&](LaunchDemand const& a, LaunchDemand const& b) { return size(a) < size(b); });
}

// What holds the multiply-add units up, in clocks of all multiprocessors.
double beside_fma(Demand const& x, Device const& device) {
  LaunchDemand const& l = main_launch(x);
  double const resident_blocks = occupancy_of(l, device).resident_blocks, warps = resident_blocks * l.threads / 32;
  double const few = std::max(0., kFewWarps / warps - kFewWarps / kEnoughWarps);
  return (kSharedLoad + few) * x.shared_loads + kSharedStore * x.shared_stores + kAsyncCopy * x.async_copies +
         kConflict * x.excess + kExposed / resident_blocks * x.exposed_loads;
}

// What one block with the GPU for itself waits for, in seconds. A copy: its loads, one after the other where they go
// through shared memory. A GEMM: the first load and the last store; other waits stand beside the FMAs.
double waiting(Demand const& x, Device const& device) {
  double const exposed = x.exposed_loads / std::max(1., double(main_launch(x).blocks)),
               latency = kLoadLatency / device.clock_ghz;
  if (x.fma) return (2 * device.load_ns + latency) * 1e-9;
  return (std::max(1., exposed) * device.load_ns + exposed * latency) * 1e-9;
}
std::string several(double n, char const* what) { return count(n) + " " + what + (n == 1 ? "" : "s"); }
// Blocks start one after the other, and those for which there is no space wait until others have come back from memory.
Resource latency(Demand const& x, Device const& device) {
  Resource r{"latency", 0, ""};
  double waves = 0, warps = 0;
  for (LaunchDemand const& l : x.launches) {
    Occupancy const s = occupancy_of(l, device);
    r.seconds += std::ceil(s.waves) * waiting(x, device) +
                 s.most_blocks * l.threads / 32 * kWarpStart / (1e9 * device.clock_ghz);
    waves += std::ceil(s.waves), warps += double(l.blocks) * l.threads / 32;
  }
  r.why = several(waves, "wave") + format(", %.2g us exposed latency per block, and %s warps to start",
                                          1e6 * waiting(x, device), count(warps).c_str());
  return r;
}

}  // namespace

std::vector<Resource> resources_of(Demand const& x, Device const& device) {
  double const clocks = device.sm_count * device.clock_ghz * 1e9;
  std::vector<Resource> r;
  if (x.launches.empty()) return r;
  double const busiest = occupancy_of(main_launch(x), device).uneven() / clocks;  // seconds for a clock of all
  r.push_back({"DRAM", x.dram_bytes / (device.copy_gbps * 1e9),
               count(x.dram_bytes) + format(" bytes at %.0f GB/s", device.copy_gbps)});
  r.push_back({"L2", x.l2_bytes / (device.l2_gbps * 1e9),
               count(x.l2_bytes) + format(" bytes to and from the SMs at %.0f GB/s", device.l2_gbps)});
  r.push_back({"L1", (x.wavefronts + kLoadConflict * x.load_excess + x.lines) * busiest,
               count(x.wavefronts) + " wavefronts and " + count(x.lines) +
                   format(" lines, one a clock on each of %d SMs", device.sm_count)});
  if (x.fma) {
    double const fma = x.fma / device.fma_lanes;
    r.push_back(
        {"FMA", fma * busiest, count(x.fma) + format(" multiply-adds, %d a clock on each SM", device.fma_lanes)});
    r.push_back({"beside FMA", beside_fma(x, device) * busiest,
                 count(x.shared_loads) + " loads and " + count(x.shared_stores) + " stores of shared memory, " +
                     count(x.async_copies) + " cp.async, " + count(x.excess) + " conflicts, " + count(x.exposed_loads) +
                     " waits"});
  } else {
    r.push_back(
        {"issue", kIssue * x.requests / kSchedulers * busiest,
         count(x.requests) + format(" requests of warps, %g instructions each, %d a clock", kIssue, kSchedulers)});
  }
  r.push_back(latency(x, device));
  r.push_back({"launch", device.launch_us * 1e-6 * double(x.launches.size()),
               several(double(x.launches.size()), "kernel") + format(", %g us each", device.launch_us)});
  std::stable_sort(r.begin(), r.end(), [](Resource const& a, Resource const& b) { return a.seconds > b.seconds; });
  return r;
}

Prediction prediction_of(Demand const& x, Device const& device, std::vector<Resource> const& resources) {
  if (x.launches.empty()) return {};
  auto const of = [&](char const* name) {
    for (Resource const& r : resources)
      if (r.name == name) return r.seconds;
    return 0.;
  };
  double const memory = std::max(of("DRAM"), of("L2")), inside = std::max(of("L1"), of("issue")),
               gemms = of("FMA") + of("beside FMA"),  // they exclude each other
      latency = of("latency"), longest = std::max({memory, inside, gemms});
  double seconds = longest;
  if (gemms == 0) {
    double const waves = occupancy_of(main_launch(x), device).waves;
    seconds += std::clamp(1 / waves, kOverlap, kOneWave) * std::min(memory, of("L1"));
  }
  // Nothing is busy before the first loads have come back.
  Prediction p{of("launch") + std::max(latency, waiting(x, device) + seconds), ""};
  auto const busier = [&](char const* a, char const* b) { return of(a) >= of(b) ? a : b; };
  if (of("launch") > std::max(longest, latency))
    p.limit = "launch";
  else if (latency > longest)
    p.limit = "latency";
  else
    p.limit = longest == gemms    ? busier("FMA", "beside FMA")
              : longest == memory ? busier("DRAM", "L2")
                                  : busier("L1", "issue");
  return p;
}

}  // namespace inlay::planner
