// All kernels: the steps of the tutorial, then those of the library; and the reductions, which complete plans. Only the lab and the tests link the registry.
#pragma once
#include <inlay/planner/kernel_info.h>
#include <inlay/problem/reduction.h>
#include <inlay/replay/recorder.h>

#include <span>

namespace inlay::registry {
using namespace planner;
using replay::Recorder;

// Replays a kernel on the CPU. The size of its grid may depend on `device`.
template <class P>
using Replay = void (*)(P const&, Device const& device, Recorder&);

template <class P>
struct Entry {
  LinkedKernel<P> kernel;
  Replay<P> replay;  // replays all blocks with all checks
  Replay<P> sample;  // counts the accesses of the kernel from a few blocks
  Info<P> const& info() const { return *kernel.info; }
};

std::span<Entry<Copy> const> copy_kernels();  // in the order of their lists
std::span<Entry<Gemm> const> gemm_kernels();  // in the order of their lists
std::span<Entry<Reduction> const> reductions();

}  // namespace inlay::registry
