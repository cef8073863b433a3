// All kernels: the steps of the tutorial, then those of the library; and the reductions, which complete plans. Only the
// lab and the tests link the registry. The steps alone need nothing but them: the first screen is made of them.
#pragma once
#include <inlay/model/kernel_info.h>
#include <inlay/problem/reduction.h>
#include <inlay/replay/recorder.h>

#include <span>

namespace inlay::registry {
using namespace model;
using replay::Recorder;

// Replays a kernel on the CPU. The size of its grid may depend on `device`.
template <class P>
using Replay = model::OfConfig<void, P const&, Device const&, Recorder&>;

// Replays a list of copies between these pairs of buffers.
template <class P>
using ReplayList = void (*)(P const&, std::span<model::Pair const>, Device const&, Recorder&);

template <class P>
struct Entry {
  Info<P> const* kernel;
  Replay<P> replay;                     // replays all blocks with all checks
  Replay<P> sample;                     // counts the accesses of the kernel from a few blocks
  ReplayList<P> replay_list = nullptr;  // null: the kernel takes no lists
  Info<P> const& info() const { return *kernel; }
};

// Each in the order of its lists.
std::span<Entry<Copy> const> copy_steps();
std::span<Entry<Gemm> const> gemm_steps();
std::span<Entry<Copy> const> copy_kernels();  // the steps first
std::span<Entry<Gemm> const> gemm_kernels();
std::span<Entry<Reduction> const> reductions();

}  // namespace inlay::registry

// For the files that list entries: what INLAY_DEFINE_REPLAY defines, and the entry of a kernel.
#define INLAY_DECLARE_REPLAY(P, NAME)                                            \
  namespace inlay::kernels::NAME {                                               \
  using namespace problem;                                                       \
  using namespace model;                                                         \
  void replay(P const&, Device const&, inlay::replay::Recorder&, Config const&); \
  void sample(P const&, Device const&, inlay::replay::Recorder&, Config const&); \
  extern inlay::registry::ReplayList<P> const replay_list;                       \
  }
#define INLAY_ENTRY(NAME) \
  {&kernels::NAME::kernel, kernels::NAME::replay, kernels::NAME::sample, kernels::NAME::replay_list},
