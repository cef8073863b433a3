// What takes part in a measurement: variants, the public function, and others' work on the same bytes.
#pragma once
#include <inlay/registry/registry.h>

#include <functional>
#include <string>
#include <vector>

#include "measure/device_data.h"
#include "measure/trials.h"
#include "problems/cases.h"

namespace inlay::lab {

// A launch only enqueues, so that it can be captured into a graph.
using Launch = std::function<void(void* dst, void const* src, cudaStream_t)>;

struct Contender {
  std::string name;
  int elem_bytes;
  Placement placement;  // which source element belongs where
  Launch launch;        // takes the buffers' starts, not the bases

  double bytes() const { return 2. * double(placement.elements()) * elem_bytes; }  // read plus written
};

inline constexpr char const* kMemcpy = "cudaMemcpyAsync";
inline constexpr char const* kVectorCopy = "copy_03_vector";
inline constexpr char const* kGeam = "cublas_geam";
inline constexpr char const* kPublic = "transpose";

// A variant on the case as it is: pitches, bases and batch included. A copy packs the rows.
Contender variant_contender(Entry<Move> const& entry, Case const& c);

// The faster of these two is the copy limit: as many bytes as the case moves, contiguous, a multiple of 16, from and to
// aligned addresses.
std::vector<Contender> copy_limit(Case const& c);

// The rows of a table: the copy limit's, then those of `typed` (names or kProduction; none: all) in their order: copies
// of as many contiguous bytes, transposes if `transposes`, the public function, baselines.
std::vector<Contender> table_rows(Case const& c, bool transposes, std::vector<std::string> const& typed);

// Poisons dst, launches, checks every element: "ok", "rejected: ...", "FAILED: ...". Throws Error when the GPU fails.
std::string verdict(Contender const& contender, void* dst, void const* src, cudaStream_t stream);

}  // namespace inlay::lab
