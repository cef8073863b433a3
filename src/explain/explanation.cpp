#include <inlay/explain/explanation.h>

#include <algorithm>

#include <inlay/explain/advice.h>
#include <inlay/model/format.h>

namespace inlay::explain {
using model::Traffic;
using replay::Mechanism;

namespace {

constexpr double kWorthIt = .02;  // share of the time: smaller savings are within the error of the model
constexpr double kRelevant = .1;  // share of all sectors: accesses with fewer hardly affect the time

std::string name_of(Site const& s) { return s.operand + (s.store ? " store" : " load"); }

void add(model::Demand& d, Site const& s) {
  double const requests = double(s.traffic.requests), transactions = double(s.traffic.transactions);
  if (s.mechanism != Mechanism::tma && s.mechanism != Mechanism::wgmma) d.requests += requests;
  if (s.space == replay::Space::shared) {
    double const excess = transactions - double(s.ideal);
    d.wavefronts += transactions, d.excess += excess;
    if (s.mechanism != Mechanism::plain) return;
    (s.store ? d.shared_stores : d.shared_loads) += requests;
    if (!s.store) d.load_excess += excess;
  } else if (s.mechanism == Mechanism::tma) {
    // TMA data pass through the L1 and are written to shared memory: 128 bytes per wavefront, twice.
    d.l2_bytes += 32 * double(s.sectors), d.wavefronts += 2 * transactions / 128;
  } else {
    // The L1 keeps unused bytes of a load's sectors for later loads; stores write through.
    d.l2_bytes += s.store ? 32 * transactions : double(s.useful);
    bool const async = s.mechanism == Mechanism::cp_async;
    d.lines += double(s.lines) +
               (async ? requests : 0);  // cp.async passes through the L1 once more on its way to shared memory
    if (async) d.async_copies += requests;
  }
}

// The demand of all launches together. `sites`: those of the recorder, or changed ones to predict the effect of advice.
model::Demand demand_of(Recorder const& recorder, Work const& work, std::vector<Site> const& sites) {
  model::Demand d;
  for (replay::RecordedLaunch const& l : recorder.launches)
    d.launches.push_back({l.blocks, l.threads, l.cluster, l.shared_bytes, l.min_blocks, l.blocks_per_sm});
  d.dram_bytes = work.dram_bytes;
  d.fma = double(recorder.fma), d.mma_fma = double(recorder.mma_fma), d.wgmma_fma = double(recorder.wgmma_fma),
  d.exposed_loads = double(recorder.exposed_loads);
  for (Site const& s : sites)
    if (s.traffic.requests) add(d, s);
  return d;
}

// A site, with the time that following its advice saves.
ExplainedSite explained(Recorder const& recorder, Explanation const& x, std::size_t site) {
  Advice advice = advice_for(recorder.sites[site], recorder.sites);
  std::vector<Site> sites = recorder.sites;
  sites[site] = advice.after;
  model::Demand const then = demand_of(recorder, x.work, sites);
  double const seconds = prediction_of(then, x.device, resources_of(then, x.device)).seconds;
  return {recorder.sites[site], name_of(recorder.sites[site]), std::move(advice.sentence), x.seconds - seconds};
}

}  // namespace

double ExplainedSite::useful_share() const { return sectors() ? double(site.useful) / double(32 * sectors()) : 0; }

std::int64_t ExplainedSite::sectors() const {
  if (site.space == replay::Space::shared) return 0;
  return site.mechanism == Mechanism::tma ? site.sectors : site.traffic.transactions;
}

Explanation explanation_of(Recorder const& recorder, Work work, Device const& device) {
  Explanation x;
  x.work = std::move(work), x.device = device;
  x.totals = counted(recorder);
  x.demand = demand_of(recorder, x.work, recorder.sites);
  x.resources = resources_of(x.demand, device);
  auto const [seconds, limit] = prediction_of(x.demand, device, x.resources);
  x.seconds = seconds, x.limit = limit;
  for (std::size_t i = 0; i < recorder.sites.size(); ++i) {
    Site const& s = recorder.sites[i];
    if (s.traffic.requests == 0) continue;
    x.sites.push_back(explained(recorder, x, i));
    if (s.mechanism == Mechanism::tma) (s.store ? x.tma_store_sectors : x.tma_load_sectors) += s.sectors;
  }
  return x;
}

Counts counted(Recorder const& recorder) {
  Counts c;
  c.fma = recorder.fma, c.mma_fma = recorder.mma_fma, c.wgmma_fma = recorder.wgmma_fma;
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
    if (to) *to += s.traffic;
  }
  return c;
}

std::string Explanation::advice() const {
  // The advice that saves most; if that is less than kWorthIt of the time, the advice for the limiting resource.
  auto const worst =
      std::max_element(sites.begin(), sites.end(), [](auto const& a, auto const& b) { return a.saves < b.saves; });
  if (worst != sites.end() && worst->saves > kWorthIt * seconds)
    return worst->name + ": " + worst->advice +
           model::format(" (up to %.0f %% less time)", 100 * worst->saves / seconds);
  bool const advised = std::any_of(sites.begin(), sites.end(), [](auto const& s) { return s.saves > 0; });
  for (Resource const& r : resources)
    if (r.name == limit)
      return advice_for(r) +
             (advised
                  ? model::format("; the advice on accesses above would save less than %.0f %% each", 100 * kWorthIt)
                  : "");
  return {};
}

std::string Explanation::doubt() const {
  std::int64_t all = 0;
  for (ExplainedSite const& s : sites) all += s.sectors();
  ExplainedSite const* worst = nullptr;
  for (ExplainedSite const& s : sites) {
    bool const is_relevant = double(s.sectors()) > kRelevant * double(all) && s.site.mechanism != Mechanism::tma;
    if (is_relevant && s.useful_share() < .5 && (!worst || s.useful_share() < worst->useful_share())) worst = &s;
  }
  if (!worst) return {};
  return worst->name +
         model::format(
             ": %.0f %% of the bytes of its sectors are requested; the model does not cover what the caches do with "
             "the rest, and its times for such kernels have been too long or too short by a factor of two and more",
             100 * worst->useful_share());
}

}  // namespace inlay::explain
