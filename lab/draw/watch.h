// Replays a kernel whose events or counts a picture shows.
#pragma once
#include <inlay/registry/registry.h>

#include <cstdint>
#include <map>
#include <string>

#include "problems/problem.h"
#include "verify/replay_check.h"

namespace inlay::lab {

using replay::Mechanism, replay::Site;

// "transpose_03_smem_read_conflict, 256 x 256, 4 B"
template <class C>
std::string title_of(Entry<typename C::Canonical> const& entry, C const& c) {
  return std::string(entry.info().name) + ", " + c.sentence();
}

// Throws UsageError when the kernel rejected the case, and Error when a check failed: a picture of a wrong kernel would
// mislead. The message begins with `title`.
void expect_sound(std::string const& title, Replayed const& replayed);

// Replays the kernel with all checks. Throws as expect_sound does.
template <class C>
void replay_sound(Entry<typename C::Canonical> const& entry, C const& c, Recorder& recorder) {
  expect_sound(title_of(entry, c), replay_on_cpu(entry, c, recorder));
}

// "shared A load (4 B)", "A load by cp.async (16 B)", "in load by TMA"
std::string name_of(Site const& site);

// The site that a user means by `typed`: its name, the beginning of its name, or whole words of it, if no other site
// fits too. Empty: the site whose worst request needs the most transactions beyond its ideal. Sites of TMA have no
// requests of warps and are not considered. Throws UsageError with the names of the sites.
Site const& site_named(std::vector<Site> const& sites, std::string const& typed);

}  // namespace inlay::lab
