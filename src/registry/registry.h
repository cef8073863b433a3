// Every kernel: the steps of the tutorial, then those of the library. Only the lab and the tests link this.
#pragma once
#include <inlay/plan/variant.h>
#include <inlay/replay/recorder.h>

#include <span>

namespace inlay::registry {
using namespace planning;
using replay::Recorder;

// Replays for a GPU like `device`, by which grids are sized.
template <class P>
using Replay = void (*)(P const&, Device const& device, Recorder&);

template <class P>
struct Entry {
  Variant<P> variant;
  Replay<P> replay;  // all of it, with all checks
  Replay<P> sample;  // counts what the variant does, from a few of its blocks
  Info<P> const& info() const { return *variant.info; }
};

std::span<Entry<Move> const> move_variants();  // in the order of their lists
std::span<Entry<Gemm> const> gemm_variants();  // in the order of their lists

}  // namespace inlay::registry
