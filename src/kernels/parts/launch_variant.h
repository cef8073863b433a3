// A variant on the GPU: what a generated unit instantiates, and what it may instantiate for.
#pragma once
#include <inlay/block/launch.h>
#include <inlay/kernels/parts/launches.h>

namespace inlay::kernels {

// Throws whatever launch_variant would throw; launches nothing.
template <class V, class P>
void prepare_variant(P const& problem, Device const& device, void* workspace) {
  launches<V>(problem, Setting<DriverEncoder>{device, workspace, {}}, [&](auto const& kernel) {
    block::prepare(kernel, {device.id, device.compute_capability});
  });
}

// Launches what the variant says on `stream`; neither synchronises nor allocates.
template <class V, class P>
void launch_variant(P const& problem, Device const& device, void* workspace, cudaStream_t stream) {
  launches<V>(problem, Setting<DriverEncoder>{device, workspace, {}}, [&](auto const& kernel) {
    block::launch(kernel, {device.id, device.compute_capability}, stream);
  });
}

}  // namespace inlay::kernels
