// `inlay draw request`: which lanes of one warp request access which banks of shared memory, or which sectors of global
// memory.
#pragma once
#include <inlay/banks.h>

#include <array>
#include <map>
#include <string>
#include <vector>

#include "draw/watch.h"

namespace inlay::lab {

using Lanes = std::vector<unsigned>;

// One wavefront of a request: the lanes that each bank serves.
struct Wavefront {
  unsigned pass;
  std::array<Lanes, 32> of_bank;
};
std::vector<Wavefront> wavefronts_of(banks::Request const& request, banks::Access access);

// The lanes in conflict, as a bit mask: in their pass, other lanes request another word of the same bank.
std::uint32_t conflicting_lanes(banks::Request const& request, banks::Access access);

// The requested sectors of global memory, by address / 32, and the lanes that request bytes of each.
std::map<std::uint64_t, Lanes> sectors_of(banks::Request const& request);

struct WarpRequest {
  std::string title;    // the kernel and its case
  std::string site;     // "shared A load"
  std::string operand;  // "shared A"
  banks::Request lanes;
  replay::Space space;
  bool store = false;
  std::uint64_t base = 0;  // the address of the operand's first element
  int elem_bytes = 4;
  unsigned excess = 0;     // transactions beyond the ideal, as the replay counted them
  bool by_halves = false;  // a cp.async that bypasses the L1 requests each sector twice, one half at a time
};
std::string draw_request(WarpRequest const& request);

// The request of a site that needs the most transactions beyond its ideal. Throws as replay_sound and site_named do.
WarpRequest worst_request(Entry<Copy> const& entry, CopyCase const& c, std::string const& site);
WarpRequest worst_request(Entry<Gemm> const& entry, GemmCase const& c, std::string const& site);

}  // namespace inlay::lab
