// Launches a registered kernel on the GPU. A generated unit uses these macros for each line of a kernel list.
#pragma once
#ifdef __CUDACC__
#include <inlay/block/launch.h>
#else
#include <inlay/error.h>
#endif
#include <inlay/kernels/common/instance.h>

namespace inlay::kernels {
#ifdef __CUDACC__

// Throws what launch_kernel would throw, and launches nothing.
template <class D, class P>
void prepare_kernel(P const& problem, Device const& device, void* workspace) {
  launches<D>(problem, Setting<DriverEncoder>{device, workspace, {}}, [&](auto const& kernel) {
    block::prepare(kernel, {device.id, device.compute_capability});
  });
}

// Launches the kernels of dispatch type D on `stream`. Neither synchronises nor allocates.
template <class D, class P>
void launch_kernel(P const& problem, Device const& device, void* workspace, cudaStream_t stream) {
  launches<D>(problem, Setting<DriverEncoder>{device, workspace, {}}, [&](auto const& kernel) {
    block::launch(kernel, {device.id, device.compute_capability}, stream);
  });
}

#else

// A build without nvcc can plan and replay, but not launch.
template <class D, class P>
void prepare_kernel(P const&, Device const&, void*) {
  throw Error("no kernel can be launched: this build was made without nvcc");
}
template <class D, class P>
void launch_kernel(P const& problem, Device const& device, void* workspace, cudaStream_t) {
  prepare_kernel<D>(problem, device, workspace);
}

#endif
}  // namespace inlay::kernels

// INLAY_DEFINE_STEP defines what INLAY_DECLARE_KERNEL(P, NAME) declares. INLAY_DEFINE_KERNEL does so for a kernel of
// the library: the planner compares copy kernels by their predicted time, so one without it does not compile.
#define INLAY_DEFINE_KERNEL(P, NAME)                                                     \
  static_assert(!std::is_same_v<inlay::problem::P, inlay::problem::Copy> ||              \
                    inlay::planner::has_predicted_time(inlay::kernels::NAME::info),      \
                "the info of copy kernel " #NAME " lacks .seconds, the predicted time"); \
  INLAY_DEFINE_STEP(P, NAME)

#define INLAY_DEFINE_STEP(P, NAME)                                                         \
  namespace inlay::kernels::NAME {                                                         \
  static_assert(is_complete(info, #NAME));                                                 \
  extern Info<P> const* const kernel_info;                                                 \
  Info<P> const* const kernel_info = &info;                                                \
  void run(P const& problem, Device const& device, void* workspace, cudaStream_t stream) { \
    launch_kernel<Dispatch>(problem, device, workspace, stream);                           \
  }                                                                                        \
  void prepare(P const& problem, Device const& device, void* workspace) {                  \
    prepare_kernel<Dispatch>(problem, device, workspace);                                  \
  }                                                                                        \
  }
