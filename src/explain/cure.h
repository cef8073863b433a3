// Searches a layout with fewer bank conflicts for an array in shared memory, considering all accesses to the array.
#pragma once
#include <inlay/replay/recorder.h>

#include <optional>
#include <string>
#include <vector>

namespace inlay::explain {

// The distance in bytes between successive lanes, if it is the same between all active lanes of the request.
std::optional<std::int64_t> stride_of(banks::Request const& request);

// A layout of the array of `site`, whose costliest request has conflicts. It keeps each lane's access contiguous and
// aligned at all sites, is a TMA swizzle if the kernel uses TMA, and needs fewer wavefronts over all sites of the
// array, where every request of a site counts like the costliest one.
struct Cure {
  std::string layouts;      // "pad rows by 4 bytes, or Swizzle<5,0,6>"; empty: nothing helps
  std::string why_not;      // the reason if `layouts` is empty
  unsigned wavefronts = 0;  // of the costliest request of the site with the layout
};
// Empty if the row pitch of the array cannot be read off the request.
std::optional<Cure> cure_of(replay::Site const& site, std::vector<replay::Site> const& all);

}  // namespace inlay::explain
