// Another layout of an array in shared memory, asked of all that is done to the array together.
#pragma once
#include <inlay/replay/recorder.h>

#include <optional>
#include <string>
#include <vector>

namespace inlay::explain {

// Bytes from each active lane to the next, if they are the same all through the request.
std::optional<std::int64_t> stride_of(banks::Request const& request);

// A cure for the array of a site whose costliest request has conflicts, considering all sites of the kernel. The layout may be
// another if it keeps the lanes of every site whole and aligned, if TMA takes it where the kernel has boxes, and if all
// sites of the array together, each by its costliest request, need fewer wavefronts.
struct Cure {
  std::string layouts;      // "pad rows by 4 bytes, or Swizzle<5,0,6>"; empty: nothing helps
  std::string why_not;      // else
  unsigned wavefronts = 0;  // that the request needs then
};
// Nothing where the request does not tell how the rows of the array lie.
std::optional<Cure> cure_of(replay::Site const& site, std::vector<replay::Site> const& all);

}  // namespace inlay::explain
