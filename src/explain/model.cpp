#include "explain/model.h"

#include <algorithm>
#include <cmath>

#include "explain/format.h"

namespace inlay {
namespace {

// ---- The constants, in clocks of a multiprocessor. Fitted on an H200 to the products of 8192 x 8192 x 8192 at nn and nt (least
// squares of the relative error) and to the moves of 16384 x 16384: docs/04_measuring.md. Other sizes are judged by them.
constexpr double kOverlap = .1;  // of the L1's time beside the memory's, or the other way round: what is not hidden
constexpr double kLoadConflict = .06;  // of a wavefront: what a load's conflict costs beyond a store's
// Beside the FMAs. A load from shared memory: its issue slots, and what waits for its turn. With few warps, more waits.
constexpr double kSharedLoad = .55, kEnoughWarps = 16, kFewWarps = 14.8;
// A request on its way into shared memory: the instructions around it, with their addresses and predicates.
constexpr double kSharedStore = 3.1, kAsyncCopy = 4.2;
constexpr double kConflict = .8;  // a wavefront beyond the ideal
// A load from global memory that nothing hides, until another block of the multiprocessor has something to do.
constexpr double kExposed = 800;

struct Counts {  // over all multiprocessors
  double lines = 0, wavefronts = 0, excess = 0;
  double load_excess = 0;
  double shared_loads = 0, shared_stores = 0, async_copies = 0;  // requests
  double l2_bytes = 0;
};
Counts counts_of(Explanation const& x) {
  Counts c;
  for (ExplainedSite const& e : x.sites) {
    Site const& s = e.site;
    double const requests = double(s.traffic.requests), transactions = double(s.traffic.transactions);
    if (s.space == replay::Space::shared) {
      double const excess = transactions - double(s.ideal);
      c.wavefronts += transactions, c.excess += excess;
      if (s.mechanism != Mechanism::plain) continue;
      (s.store ? c.shared_stores : c.shared_loads) += requests;
      if (!s.store) c.load_excess += excess;
    } else if (s.mechanism == Mechanism::tma) {
      c.l2_bytes += 32 * double(s.sectors),
          c.wavefronts += 2 * transactions / 128;  // through the L1, into shared memory
    } else {
      // What a load's sectors hold beside what was asked for is found in the L1 by the next one; stores go on as they are.
      c.l2_bytes += s.store ? 32 * transactions : double(s.useful);
      bool const async = s.mechanism == Mechanism::cp_async;
      c.lines += double(s.lines) + (async ? requests : 0);  // on its way back once more
      if (async) c.async_copies += requests;
    }
  }
  return c;
}

// The launch that does the work.
Launch const& main_launch(Explanation const& x) {
  return *std::max_element(x.launches.begin(), x.launches.end(), [](Launch const& a, Launch const& b) {
    return double(a.blocks) * a.threads < double(b.blocks) * b.threads;
  });
}

// The share of the time in which all multiprocessors have blocks: the last wave is rarely full.
double filled(Explanation const& x) {
  Launch const& l = main_launch(x);
  double const waves = double(l.blocks) / (double(resident_blocks(l, x.gpu)) * x.gpu.sm_count);
  return waves / std::ceil(waves);
}

// What holds the multiply-add units up, in clocks of all multiprocessors.
double beside_fma(Explanation const& x, Counts const& c) {
  Launch const& l = main_launch(x);
  double const resident = resident_blocks(l, x.gpu), warps = resident * l.threads / 32;
  double const few = std::max(0., kFewWarps / warps - kFewWarps / kEnoughWarps);
  return (kSharedLoad + few) * c.shared_loads + kSharedStore * c.shared_stores + kAsyncCopy * c.async_copies +
         kConflict * c.excess + kExposed / resident * double(x.exposed_loads);
}

}  // namespace

int resident_blocks(Launch const& l, Gpu const& gpu) {
  int n = std::min(32, gpu.max_threads / int(l.threads));
  n = std::min(n, int(std::size_t(gpu.shared_bytes) / (l.shared_bytes + 1024)));
  if (l.blocks_per_sm) n = std::min(n, l.blocks_per_sm);
  if (l.min_blocks) n = std::min(n, l.min_blocks);  // the compiler takes the registers that this leaves it
  return std::max(n, 1);
}

std::vector<Resource> resources_of(Explanation const& x) {
  double const clocks = x.gpu.sm_count * x.gpu.clock_ghz * 1e9;
  Counts const c = counts_of(x);
  std::vector<Resource> r;
  if (x.launches.empty()) return r;
  r.push_back({"DRAM", x.work.dram_bytes / (x.gpu.dram_gbps * 1e9),
               count(x.work.dram_bytes) + format(" bytes at %.0f GB/s", x.gpu.dram_gbps)});
  r.push_back({"L2", c.l2_bytes / (x.gpu.l2_gbps * 1e9),
               count(c.l2_bytes) + format(" bytes to and from the SMs at %.0f GB/s", x.gpu.l2_gbps)});
  r.push_back({"L1", (c.wavefronts + kLoadConflict * c.load_excess + c.lines) / clocks,
               count(c.wavefronts) + " wavefronts and " + count(c.lines) +
                   format(" lines, one a clock on each of %d SMs", x.gpu.sm_count)});
  if (x.totals.fma) {
    double const fma = double(x.totals.fma) / x.gpu.fma_lanes;
    r.push_back({"FMA", fma / clocks,
                 count(double(x.totals.fma)) + format(" multiply-adds, %d a clock on each SM", x.gpu.fma_lanes)});
    r.push_back({"beside FMA", beside_fma(x, c) / clocks,
                 count(c.shared_loads) + " loads and " + count(c.shared_stores) + " stores of shared memory, " +
                     count(c.async_copies) + " cp.async, " + count(c.excess) + " conflicts, " +
                     count(double(x.exposed_loads)) + " waits"});
  }
  r.push_back({"launch", x.gpu.launch_us * 1e-6 * double(x.launches.size()),
               format("%d of %g microseconds", int(x.launches.size()), x.gpu.launch_us)});
  std::stable_sort(r.begin(), r.end(), [](Resource const& a, Resource const& b) { return a.seconds > b.seconds; });
  return r;
}

Prediction prediction_of(Explanation const& x) {
  if (x.launches.empty()) return {};
  auto const of = [&](char const* name) {
    for (Resource const& r : x.resources)
      if (r.name == name) return r.seconds;
    return 0.;
  };
  double const memory = std::max(of("DRAM"), of("L2")), l1 = of("L1"), launch = of("launch");
  double const products = (of("FMA") + of("beside FMA")) / (x.totals.fma ? filled(x) : 1);  // they take turns
  double const longest = std::max({memory, l1, products});
  Prediction p{longest + launch, "L1"};
  if (products == 0) p.seconds += kOverlap * std::min(memory, l1);
  if (launch > longest)
    p.limit = "launch";
  else if (longest == products)
    p.limit = of("FMA") >= of("beside FMA") ? "FMA" : "beside FMA";
  else if (longest == memory)
    p.limit = of("DRAM") >= of("L2") ? "DRAM" : "L2";
  return p;
}

}  // namespace inlay
