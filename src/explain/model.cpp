#include "explain/model.h"

#include <algorithm>
#include <cstdio>

namespace inlay {
namespace {

template <class... Args>
std::string format(char const* text, Args... args) {
  char s[240];
  std::snprintf(s, sizeof s, text, args...);
  return s;
}

// A clock of the L1 for each wavefront of shared memory, and for each line of 128 bytes of global memory. What cp.async brings is written to shared memory too.
double l1_wavefronts(Explanation const& x) {
  double n = 0;
  for (ExplainedSite const& s : x.sites) {
    Traffic const& t = s.site.traffic;
    if (s.site.mechanism == Mechanism::tma)
      n += double(t.transactions) / 128;
    else if (s.site.space == replay::Space::shared)
      n += double(t.transactions);
    else
      n += double(s.site.lines) * (s.site.mechanism == Mechanism::cp_async ? 2 : 1);
  }
  return n;
}

double sectors(Explanation const& x) {
  Cost const& c = x.totals;
  return double(c.global_load.transactions + c.global_store.transactions + c.async_copy.transactions +
                x.tma_load_sectors + x.tma_store_sectors);
}

// The launch that does the work.
Launch const& main_launch(Explanation const& x) {
  return *std::max_element(x.launches.begin(), x.launches.end(), [](Launch const& a, Launch const& b) {
    return double(a.blocks) * a.threads < double(b.blocks) * b.threads;
  });
}

// Blocks that are busy at the end of the last wave of as many as the GPU holds: the share of the time that all are.
double filled(Explanation const& x) {
  Launch const& l = main_launch(x);
  double const waves = double(l.blocks) / (double(resident_blocks(l, x.gpu)) * x.gpu.sm_count);
  double const whole = std::int64_t(waves) < waves ? double(std::int64_t(waves) + 1) : waves;
  return waves > 0 ? waves / whole : 1;
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
  double const wavefronts = l1_wavefronts(x), l2 = sectors(x) * 32;
  std::vector<Resource> r;
  r.push_back({"DRAM", x.work.dram_bytes / (x.gpu.dram_gbps * 1e9),
               format("%.3g GB at %.0f GB/s", x.work.dram_bytes / 1e9, x.gpu.dram_gbps)});
  r.push_back({"L2", l2 / (x.gpu.l2_gbps * 1e9), format("%.3g GB of sectors at %.0f GB/s", l2 / 1e9, x.gpu.l2_gbps)});
  r.push_back({"L1", wavefronts / clocks,
               format("%.3g wavefronts, one a clock on each of %d SMs", wavefronts, x.gpu.sm_count)});
  if (x.totals.fma)
    r.push_back({"FMA", double(x.totals.fma) / (clocks * x.gpu.fma_lanes),
                 format("%.3g multiply-adds, %d a clock on each SM", double(x.totals.fma), x.gpu.fma_lanes)});
  r.push_back({"launch", x.gpu.launch_us * 1e-6 * double(x.launches.size()),
               format("%d of %g microseconds", int(x.launches.size()), x.gpu.launch_us)});
  std::stable_sort(r.begin(), r.end(), [](Resource const& a, Resource const& b) { return a.seconds > b.seconds; });
  return r;
}

double seconds_of(Explanation const& x) {
  if (x.launches.empty()) return 0;
  double busy = x.resources[0].seconds, launch = 0;
  for (Resource const& r : x.resources)
    if (r.name == "launch") launch = r.seconds;
  if (x.resources[0].name == "launch") return launch;
  if (x.totals.fma) busy /= filled(x);
  return busy + launch;
}

}  // namespace inlay
