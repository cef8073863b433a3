// Every kernel: the steps of the tutorial, then those of the library. Only the lab and the tests link this.
#pragma once
#include <inlay/planner/kernel_info.h>
#include <inlay/replay/recorder.h>

#include <span>

namespace inlay::registry {
using namespace planner;
using replay::Recorder;

// Replays for a GPU like `device`, by which grids are sized.
template <class P>
using Replay = void (*)(P const&, Device const& device, Recorder&);

template <class P>
struct Entry {
  LinkedKernel<P> kernel;
  Replay<P> replay;  // all of it, with all checks
  Replay<P> sample;  // counts what the kernel does, from a few of its blocks
  Info<P> const& info() const { return *kernel.info; }
};

std::span<Entry<Copy> const> copy_kernels();  // in the order of their lists
std::span<Entry<Gemm> const> gemm_kernels();  // in the order of their lists

}  // namespace inlay::registry
