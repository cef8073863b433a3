#include <inlay/model/format.h>
#include <inlay/model/time_model.h>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

namespace inlay::model {
namespace {

// ---- The constants, in clocks of an SM. Fitted on an H200; docs/04_measuring.md says on which cases.

// Part of the shorter of L1 time and memory time that does not overlap with the longer one. kOneWave: if all blocks run
// at once and so do the same at the same time. With n waves the part is 1 / n, within these two bounds.
constexpr double kOverlap = .11, kOneWave = .75;
constexpr double kLoadConflict = .06;  // wavefronts by which a conflict of a load costs more than one of a store
constexpr int kSchedulers = 4;         // per SM; each issues one warp instruction per clock
constexpr double kIssue = 7.4;         // instructions of a copy per request: addresses, predicates and the request
// Clocks in addition to the FMAs. For a load from shared memory: issue and latency, which grows with fewer warps.
constexpr double kSharedLoad = .49, kEnoughWarps = 16, kFewWarps = 14;
// For a store to shared memory and for a cp.async: with the instructions for their addresses and predicates.
constexpr double kSharedStore = 4, kAsyncCopy = 4.7;
constexpr double kConflict = .8;  // for a wavefront beyond the ideal
// For an exposed load from global memory, until another block of the SM has work.
constexpr double kExposed = 820;
// In blocks without other work: from the return of such a load through shared memory and a barrier.
constexpr double kLoadLatency = 500;
// Tiles of tensor-core GEMMs: several SMs read the same lines at the same time, and the L2 serves them together. The
// rate is this multiple of the L2's. Fitted at 8192^3 (hgemm_04_tma), where 17.4 GB arrive in 1.89 ms.
constexpr double kSharedLines = 1.8;
constexpr double kWarpStart = 20;  // to start a warp of a block: results/h200/latency.md

// The launch that does most of the work: the one with the most shared memory, then with the most threads.
LaunchDemand const& main_launch(Demand const& x) {
  auto const size = [](LaunchDemand const& l) {
    return std::pair(double(l.blocks) * double(l.shared_bytes), double(l.blocks) * l.threads);
  };
  return *std::max_element(x.launches.begin(), x.launches.end(),
                           [&](LaunchDemand const& a, LaunchDemand const& b) { return size(a) < size(b); });
}

// Clocks, summed over all SMs, in which the FMA units wait for other instructions.
double beside_fma(Demand const& x, Device const& device) {
  LaunchDemand const& l = main_launch(x);
  double const resident_blocks = occupancy_of(l, device).resident_blocks, warps = resident_blocks * l.threads / 32;
  double const few = std::max(0., kFewWarps / warps - kFewWarps / kEnoughWarps);
  return (kSharedLoad + few) * x.shared_loads + kSharedStore * x.shared_stores + kAsyncCopy * x.async_copies +
         kConflict * x.excess + kExposed / resident_blocks * x.exposed_loads;
}

// Exposed latency in seconds of a block that runs alone on the GPU. A copy waits for its loads, one after the other if
// they go through shared memory; a GEMM for its first load and its last store. beside_fma() has its other waits.
double exposed_latency(Demand const& x, Device const& device) {
  double const exposed = x.exposed_loads / std::max(1., double(main_launch(x).blocks)),
               latency = kLoadLatency / device.clock_ghz;
  if (x.fma + x.mma_fma + x.wgmma_fma > 0) return (2 * device.load_ns + latency) * 1e-9;
  return (std::max(1., exposed) * device.load_ns + exposed * latency) * 1e-9;
}
std::string several(double n, char const* what) { return count(n) + " " + what + (n == 1 ? "" : "s"); }
// The latency of all launches: each wave has the exposed latency of a block, and warps start one after the other.
Resource latency(Demand const& x, Device const& device) {
  Resource r{"latency", 0, ""};
  double waves = 0, warps = 0;
  for (LaunchDemand const& l : x.launches) {
    Occupancy const s = occupancy_of(l, device);
    r.seconds += std::ceil(s.waves) * exposed_latency(x, device) +
                 s.most_blocks * l.threads / 32 * kWarpStart / (1e9 * device.clock_ghz);
    waves += std::ceil(s.waves), warps += double(l.blocks) * l.threads / 32;
  }
  r.why = several(waves, "wave") + format(", %.2g us exposed latency per block, and %s warps to start",
                                          1e6 * exposed_latency(x, device), count(warps).c_str());
  return r;
}

}  // namespace

int resident_blocks(LaunchDemand const& l, Device const& device) {
  int n = std::min(32, device.max_threads / int(l.threads));
  n = std::min(n, int(std::size_t(device.shared_bytes) / (l.shared_bytes + 1024)));
  if (l.blocks_per_sm) n = std::min(n, l.blocks_per_sm);
  if (l.min_blocks) n = std::min(n, l.min_blocks);  // the compiler takes the registers that this leaves it
  return std::max(n, 1);
}

Occupancy occupancy_of(LaunchDemand const& l, Device const& device) {
  double const each = double(l.blocks) / device.sm_count, most = std::ceil(each);
  int const resident = resident_blocks(l, device);
  return {each, most, std::max(1, int(std::min<double>(resident, most))), each / resident};
}

std::vector<Resource> resources_of(Demand const& x, Device const& device) {
  double const clocks = device.sm_count * device.clock_ghz * 1e9;
  std::vector<Resource> r;
  if (x.launches.empty()) return r;
  double const busiest = occupancy_of(main_launch(x), device).uneven() / clocks;  // seconds for a clock of all
  r.push_back({"DRAM", x.dram_bytes / (device.copy_gbps * 1e9),
               count(x.dram_bytes) + format(" bytes at %.0f GB/s", device.copy_gbps)});
  double const l2_gbps = device.l2_gbps * (x.mma_fma + x.wgmma_fma > 0 ? kSharedLines : 1);
  r.push_back({"L2", x.l2_bytes / (l2_gbps * 1e9),
               count(x.l2_bytes) + format(" bytes to and from the SMs at %.0f GB/s", l2_gbps)});
  r.push_back({"L1", (x.wavefronts + kLoadConflict * x.load_excess + x.lines) * busiest,
               count(x.wavefronts) + " wavefronts and " + count(x.lines) +
                   format(" lines, one a clock on each of %d SMs", device.sm_count)});
  if (x.fma) {
    double const fma = x.fma / device.fma_lanes;
    r.push_back(
        {"FMA", fma * busiest, count(x.fma) + format(" multiply-adds, %d a clock on each SM", device.fma_lanes)});
    r.push_back({"FMA waits", beside_fma(x, device) * busiest,
                 count(x.shared_loads) + " loads and " + count(x.shared_stores) + " stores of shared memory, " +
                     count(x.async_copies) + " cp.async, " + count(x.excess) + " conflicts, " + count(x.exposed_loads) +
                     " waits"});
  } else {
    r.push_back(
        {"issue", kIssue * x.requests / kSchedulers * busiest,
         count(x.requests) + format(" requests of warps, %g instructions each, %d a clock", kIssue, kSchedulers)});
  }
  for (auto [fma, rate, instruction] :
       {std::tuple{x.mma_fma, device.mma_rate, "mma.sync"}, {x.wgmma_fma, device.wgmma_rate, "wgmma"}})
    if (fma > 0)
      r.push_back({"tensor cores", fma / rate * busiest,
                   count(fma) + format(" multiply-adds of %s, %d a clock on each SM", instruction, rate)});
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
               fma = of("FMA") + of("FMA waits"),  // these do not overlap
      tensor = of("tensor cores"), latency = of("latency"), longest = std::max({memory, inside, fma, tensor});
  double seconds = longest;
  if (fma + tensor == 0) {
    double const waves = occupancy_of(main_launch(x), device).waves;
    seconds += std::clamp(1 / waves, kOverlap, kOneWave) * std::min(memory, of("L1"));
  }
  // No resource is busy before the first loads have returned.
  Prediction p{of("launch") + std::max(latency, exposed_latency(x, device) + seconds), ""};
  auto const busier = [&](char const* a, char const* b) { return of(a) >= of(b) ? a : b; };
  if (of("launch") > std::max(longest, latency))
    p.limit = "launch";
  else if (latency > longest)
    p.limit = "latency";
  else
    p.limit = tensor > 0 && longest == tensor ? "tensor cores"
              : longest == fma                ? busier("FMA", "FMA waits")
              : longest == memory             ? busier("DRAM", "L2")
                                              : busier("L1", "issue");
  return p;
}

}  // namespace inlay::model
