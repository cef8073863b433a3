// The host functions of a listed kernel: run, prepare and make of its Info. A generated unit uses these macros for each
// line of a kernel list.
#pragma once
#ifdef __CUDACC__
#include <inlay/block/launch.h>
#else
#include <inlay/error.h>
#endif
#include <inlay/kernels/common/instance.h>
#include <inlay/kernels/common/listed.h>

namespace inlay::kernels {
#ifdef __CUDACC__

// Throws what launch_kernel would throw, and launches nothing.
template <class D, class P>
void prepare_kernel(P const& problem, Device const& device, void* workspace, Config const& config) {
  launches<D>(problem, Setting<DriverEncoder>{device, workspace, {}, config}, [&](auto const& kernel) {
    block::prepare(kernel, {device.id, device.compute_capability});
  });
}

// Launches the kernels of dispatch type D on `stream`. Neither synchronises nor allocates.
template <class D, class P>
void launch_kernel(P const& problem, Device const& device, void* workspace, cudaStream_t stream, Config const& config) {
  launches<D>(problem, Setting<DriverEncoder>{device, workspace, {}, config}, [&](auto const& kernel) {
    block::launch(kernel, {device.id, device.compute_capability}, stream);
  });
}

// The kernel of dispatch type D for a list of copies with these modes.
template <class D>
std::shared_ptr<MadeLaunches const> make_list(Copy const& problem, Device const& device, Config const& config) {
  block::Target const target{device.id, device.compute_capability};
  auto made = std::make_shared<MadeLaunches>();
  auto const add = [&]<class K>(K const& kernel) {
    Listed<K> one;
    one.kernel = kernel;
    block::prepare(one, target);
    made->set_list([kernel, target](std::span<Pair const> pairs, cudaStream_t stream) {
      list_launches(kernel, pairs, [&](auto const& listed) { block::launch(listed, target, stream); });
    });
  };
  symbolic_launches<D, DriverEncoder>(problem, device, false, add, config);
  return made;
}

// The kernels of dispatch type D with all parameters but the addresses. Null for more than are worth keeping: a GEMM
// whose split tiles share a workspace launches two for each matrix of its batch.
template <class D, class P>
std::shared_ptr<MadeLaunches const> make_kernels(P const& problem, Device const& device, bool with_workspace,
                                                 Config const& config) {
  if constexpr (takes_lists<D>)
    if (problem.pairs > 1) return make_list<D>(problem, device, config);
  constexpr std::size_t kMost = 64;
  block::Target const target{device.id, device.compute_capability};
  auto made = std::make_shared<MadeLaunches>();
  auto const add = [&](auto const& kernel) {
    block::prepare(kernel, target);
    if (made->count() <= kMost)
      made->add([kernel, target](BaseAddresses const& places, cudaStream_t stream) {
        auto placed = kernel;
        placed.relocate(Relocation<DriverEncoder>(places));
        block::launch(placed, target, stream);
      });
  };
  symbolic_launches<D, DriverEncoder>(problem, device, with_workspace, add, config);
  if (made->count() > kMost) return {};
  return made;
}

#else

// Without nvcc: can be planned and replayed, but not launched.
template <class D, class P>
void prepare_kernel(P const&, Device const&, void*, Config const&) {
  throw Error("the kernel cannot be launched: it was compiled for the replay alone, without nvcc",
              ErrorCode::unsupported);
}
template <class D, class P>
void launch_kernel(P const& problem, Device const& device, void* workspace, cudaStream_t, Config const& config) {
  prepare_kernel<D>(problem, device, workspace, config);
}
template <class D, class P>
std::shared_ptr<MadeLaunches const> make_kernels(P const& problem, Device const& device, bool, Config const& config) {
  prepare_kernel<D>(problem, device, nullptr, config);
  return {};
}

#endif

// The row of a kernel with its host functions.
template <class D, class P>
constexpr Info<P> compiled(Info<P> info) {
  info.run = launch_kernel<D, P>, info.prepare = prepare_kernel<D, P>, info.make = make_kernels<D, P>;
  return info;
}

}  // namespace inlay::kernels

// INLAY_DEFINE_STEP defines what INLAY_DECLARE_KERNEL(P, NAME) declares. INLAY_DEFINE_KERNEL does so for a kernel of
// the library: the planner compares copy kernels by their predicted time, so one without it does not compile.
#define INLAY_DEFINE_KERNEL(P, NAME)                                                                                  \
  static_assert(!std::is_same_v<inlay::problem::P, inlay::problem::Copy> || bool(inlay::kernels::NAME::info.seconds), \
                "the info of copy kernel " #NAME " lacks .seconds, the predicted time");                              \
  INLAY_DEFINE_STEP(P, NAME)

#define INLAY_DEFINE_STEP(P, NAME)                                                      \
  namespace inlay::kernels::NAME {                                                      \
  static_assert(is_complete(info, #NAME) && info.takes_lists == takes_lists<Dispatch>); \
  extern Info<P> const kernel;                                                          \
  constinit Info<P> const kernel = compiled<Dispatch, P>(info);                         \
  }
