// Every variant that stands in src/kernels: facts, launch and replay. Only the lab and the tests link this.
#pragma once
#include <span>

#include "plan/variant.h"
#include "replay/recorder.h"

namespace inlay {

template <class P>
struct Entry {
  Variant<P> variant;
  Replay<P> replay;
  Replay<P> sample;  // counts what the variant does, from a few of its blocks
  Info<P> const& info() const { return *variant.info; }
};

std::span<Entry<Move> const> move_variants();  // sorted by name
std::span<Entry<Gemm> const> gemm_variants();  // sorted by name

}  // namespace inlay
