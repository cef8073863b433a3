// A kernel replayed for a picture.
#pragma once
#include <inlay/registry/registry.h>

#include <cstdint>
#include <map>
#include <string>

#include "problems/problem.h"
#include "verify/replay_check.h"

namespace inlay::lab {

// "transpose_03_smem_read_conflict, 256 x 256, 4 B"
template <class C>
std::string title_of(Entry<typename C::Canonical> const& entry, C const& c) {
  return std::string(entry.info().name) + ", " + c.sentence();
}

// Throws UsageError when the kernel rejects the case, Error when a check finds something: a picture of that would mislead.
void expect_sound(std::string const& title, Replayed const& replayed);

// Replays with all checks. Throws what expect_sound does.
template <class C>
void replay_sound(Entry<typename C::Canonical> const& entry, C const& c, Recorder& recorder) {
  expect_sound(title_of(entry, c), replay_on_cpu(entry, c, recorder));
}

// "shared A load (4 B)", "A load by cp.async (16 B)", "in load by TMA"
std::string name_of(Site const& site);

// The only site that what was typed names: all its name, its beginning, or whole words of it. Nothing typed: the one
// whose worst request costs most beyond its ideal. Boxes are no requests. Throws UsageError with the names there are.
Site const& site_named(std::vector<Site> const& sites, std::string const& typed);

}  // namespace inlay::lab
