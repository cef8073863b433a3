#include "draw/watch.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <inlay/error.h>

#include <algorithm>

#include "usage_error.h"

namespace inlay::lab {

void expect_sound(std::string const& title, Replayed const& replayed) {
  if (replayed.failed()) throw Error(fmt::format("{}: {}", title, replayed.check_result));
  if (!replayed.ok()) throw UsageError(fmt::format("{}: {}", title, replayed.check_result));
}

std::string name_of(Site const& site) {
  std::string const name = site.operand + (site.store ? " store" : " load");
  if (site.mechanism == Mechanism::tma) return name + " by TMA";
  return fmt::format("{}{} ({} B)", name, site.mechanism == Mechanism::cp_async ? " by cp.async" : "", site.bytes);
}

Site const& site_named(std::vector<Site> const& sites, std::string const& typed) {
  std::vector<Site const*> requests, named;
  for (Site const& s : sites)
    if (s.worst.active) requests.push_back(&s);
  std::vector<std::string> names;
  for (Site const* s : requests) names.push_back(name_of(*s));
  if (requests.empty()) throw UsageError("no warp asks for anything there: TMA moves boxes, one thread asks for each");
  if (typed.empty())
    return **std::max_element(requests.begin(), requests.end(),
                              [](auto* a, auto* b) { return a->worst_excess < b->worst_excess; });
  auto const those = [&](auto const& fits) {
    for (Site const* s : requests)
      if (fits(name_of(*s))) named.push_back(s);
    return named.size() == 1;
  };
  if (those([&](std::string const& name) { return name.starts_with(typed); })) return *named.front();
  if (named.empty() &&
      those([&](std::string const& name) { return (name + " ").find(" " + typed + " ") != std::string::npos; }))
    return *named.front();
  throw UsageError(fmt::format("'{}' names {} of the sites with requests: {}", typed,
                               named.empty() ? std::string("none") : std::to_string(named.size()),
                               fmt::join(names, ", ")));
}

}  // namespace inlay::lab
