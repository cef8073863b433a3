#include <inlay/explain/explanation.h>

#include <algorithm>

#include <inlay/explain/advice.h>

namespace inlay::explain {
using planning::Traffic;
using replay::Mechanism;

namespace {

std::string name_of(Site const& s) { return s.operand + (s.store ? " store" : " load"); }

// Of all launches together.
planning::Demand demand_of(Recorder const& recorder, Explanation const& x) {
  planning::Demand d;
  for (replay::Launch const& l : recorder.launches)
    d.launches.push_back({l.blocks, l.threads, l.cluster, l.shared_bytes, l.min_blocks, l.blocks_per_sm});
  d.dram_bytes = x.work.dram_bytes;
  d.fma = double(recorder.fma), d.exposed_loads = double(recorder.exposed_loads);
  for (ExplainedSite const& e : x.sites) {
    Site const& s = e.site;
    double const requests = double(s.traffic.requests), transactions = double(s.traffic.transactions);
    if (s.mechanism != Mechanism::tma) d.requests += requests;
    if (s.space == replay::Space::shared) {
      double const excess = transactions - double(s.ideal);
      d.wavefronts += transactions, d.excess += excess;
      if (s.mechanism != Mechanism::plain) continue;
      (s.store ? d.shared_stores : d.shared_loads) += requests;
      if (!s.store) d.load_excess += excess;
    } else if (s.mechanism == Mechanism::tma) {
      // Through the L1, into shared memory.
      d.l2_bytes += 32 * double(s.sectors), d.wavefronts += 2 * transactions / 128;
    } else {
      // What a load's sectors hold beside what was asked for is found in the L1 by the next one; stores go on as they
      // are.
      d.l2_bytes += s.store ? 32 * transactions : double(s.useful);
      bool const async = s.mechanism == Mechanism::cp_async;
      d.lines += double(s.lines) + (async ? requests : 0);  // on its way back once more
      if (async) d.async_copies += requests;
    }
  }
  return d;
}

}  // namespace

double ExplainedSite::useful_share() const {
  std::int64_t const sectors = site.mechanism == Mechanism::tma ? site.sectors : site.traffic.transactions;
  return sectors ? double(site.useful) / double(32 * sectors) : 0;
}

Explanation explanation_of(Recorder const& recorder, Work work, Device const& device) {
  Explanation x;
  x.work = std::move(work), x.device = device;
  x.totals = counted(recorder);
  for (Site const& s : recorder.sites) {
    if (s.traffic.requests == 0) continue;
    x.sites.push_back({s, name_of(s), advice_for(s)});
    if (s.mechanism == Mechanism::tma) (s.store ? x.tma_store_sectors : x.tma_load_sectors) += s.sectors;
  }
  x.demand = demand_of(recorder, x);
  x.resources = resources_of(x.demand, device);
  auto const [seconds, limit] = prediction_of(x.demand, device, x.resources);
  x.seconds = seconds, x.limit = limit;
  return x;
}

Counts counted(Recorder const& recorder) {
  Counts c;
  c.fma = recorder.fma;
  for (replay::Site const& s : recorder.sites) {
    bool const global = s.space == replay::Space::global;
    Traffic* to = nullptr;
    if (s.mechanism == Mechanism::tma)
      to = s.store ? &c.tma_store : &c.tma_load;
    else if (s.mechanism == Mechanism::cp_async)
      to = global ? &c.async_copy : nullptr;
    else if (global)
      to = s.store ? &c.global_store : &c.global_load;
    else
      to = s.store ? &c.shared_store : &c.shared_load;
    if (to) *to += {s.traffic.requests, s.traffic.transactions};
  }
  return c;
}

std::string Explanation::advice() const {
  // The access that costs most beyond its ideal; else, or where no access is what the time goes to, what holds for the
  // resource.
  ExplainedSite const* worst = nullptr;
  std::int64_t most = 0;
  for (ExplainedSite const& s : sites)
    if (std::int64_t const excess = s.site.traffic.transactions - s.site.ideal; !s.advice.empty() && excess > most)
      worst = &s, most = excess;
  if (worst && limit != "launch" && limit != "latency") return worst->name + ": " + worst->advice;
  for (Resource const& r : resources)
    if (r.name == limit) return advice_for(r);
  return {};
}

}  // namespace inlay::explain
