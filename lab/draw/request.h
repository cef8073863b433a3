// One request of a warp: which lane meets which bank of shared memory, or which sectors of global memory.
#pragma once
#include <inlay/banks.h>

#include <array>
#include <map>
#include <string>
#include <vector>

#include "draw/watch.h"

namespace inlay::lab {

using Lanes = std::vector<unsigned>;

// What shared memory serves at once: by bank, the lanes that get its word.
struct Wavefront {
  unsigned pass;
  std::array<Lanes, 32> of_bank;
};
std::vector<Wavefront> wavefronts_of(banks::Request const& request, banks::Access access);

// The lanes that wait for a word of their bank that another lane wants too, within a pass.
std::uint32_t conflicting_lanes(banks::Request const& request, banks::Access access);

// The sectors of global memory that copy, by address / 32, and the lanes that ask for bytes of each.
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
  unsigned excess = 0;     // transactions beyond its ideal, as the replay counted them
  bool by_halves = false;  // the sectors of a cp.async past the L1 are asked for twice
};
std::string draw_request(WarpRequest const& request);

// The request of a site that costs most beyond its ideal. Throws what replay_sound and site_named do.
WarpRequest worst_request(Entry<Copy> const& entry, TransposeCase const& c, std::string const& site);
WarpRequest worst_request(Entry<Gemm> const& entry, GemmCase const& c, std::string const& site);

}  // namespace inlay::lab
