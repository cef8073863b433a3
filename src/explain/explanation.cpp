#include "explain/explanation.h"

#include <algorithm>

#include "explain/advice.h"
#include "explain/model.h"

namespace inlay {
namespace {

std::string name_of(Site const& s) { return s.operand + (s.store ? " store" : " load"); }

}  // namespace

double ExplainedSite::useful_share() const {
  std::int64_t const sectors = site.mechanism == Mechanism::tma ? site.sectors : site.traffic.transactions;
  return sectors ? double(site.useful) / double(32 * sectors) : 0;
}

Explanation explain(Recorder const& recorder, Work work, Gpu const& gpu) {
  Explanation x;
  x.work = std::move(work), x.gpu = gpu;
  x.launches = recorder.launches;
  x.totals = counted(recorder), x.exposed_loads = recorder.exposed_loads;
  for (Site const& s : recorder.sites) {
    if (s.traffic.requests == 0) continue;
    x.sites.push_back({s, name_of(s), advice_for(s)});
    if (s.mechanism == Mechanism::tma) (s.store ? x.tma_store_sectors : x.tma_load_sectors) += s.sectors;
  }
  x.resources = resources_of(x);
  auto const [seconds, limit] = prediction_of(x);
  x.seconds = seconds, x.limit = limit;
  return x;
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

}  // namespace inlay
