// A variant replayed for a picture.
#pragma once
#include <inlay/registry/registry.h>

#include <cstdint>
#include <map>
#include <string>

#include "problems/problems.h"

namespace inlay::lab {

// Replays with all checks. Throws UsageError when the variant rejects the case, Error when a check finds something: a
// picture of that would mislead.
void replay_sound(Entry<Move> const& entry, Case const& c, Recorder& recorder);
void replay_sound(Entry<Gemm> const& entry, GemmCase const& c, Recorder& recorder);

// "transpose_03_smem_read_conflict, 256 x 256, 4 B"
template <class P, class C>
std::string title_of(Entry<P> const& entry, C const& c) {
  return std::string(entry.info().name) + ", " + c.sentence();
}

// "shared A load (4 B)", "A load by cp.async (16 B)", "in load by TMA"
std::string name_of(Site const& site);

// The only site that what was typed names: all its name, its beginning, or whole words of it. Nothing typed: the one
// whose worst request costs most beyond its ideal. Boxes are no requests. Throws UsageError with the names there are.
Site const& site_named(std::vector<Site> const& sites, std::string const& typed);

}  // namespace inlay::lab
