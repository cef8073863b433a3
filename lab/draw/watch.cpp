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
  std::vector<Site const*> candidates, matches;
  std::vector<std::string> names;
  for (Site const& s : sites)
    if (s.worst.active) candidates.push_back(&s), names.push_back(name_of(s));
  if (candidates.empty())
    throw UsageError("the kernel has no requests of warps to draw: TMA moves boxes, and one thread issues each");
  if (typed.empty())
    return **std::max_element(candidates.begin(), candidates.end(),
                              [](auto* a, auto* b) { return a->worst_excess < b->worst_excess; });
  auto const find_matches = [&](auto const& fits) {
    for (std::size_t i = 0; i < names.size(); ++i)
      if (fits(names[i])) matches.push_back(candidates[i]);
  };
  find_matches([&](std::string const& name) { return name.starts_with(typed); });
  if (matches.empty())
    find_matches([&](std::string const& name) { return (name + " ").find(" " + typed + " ") != name.npos; });
  if (matches.size() == 1) return *matches.front();
  throw UsageError(fmt::format("'{}' names {} of the sites with requests: {}", typed,
                               matches.empty() ? std::string("none") : std::to_string(matches.size()),
                               fmt::join(names, ", ")));
}

}  // namespace inlay::lab
