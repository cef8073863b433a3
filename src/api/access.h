// Whether a call may use its stream and its pointers on the current device. Asks CUDA; launches nothing.
#pragma once
#include <inlay/error.h>
#include <inlay/model/device.h>

namespace inlay {

bool is_capturing(cudaStream_t stream);
// Throws Error for a stream of another device. Null streams belong to the current device. The device of a stream is
// unknown while the stream is captured, and before CUDA 12.8: then CUDA itself refuses the launch.
void check_stream(cudaStream_t stream, model::Device const& device);
// Throws Error unless kernels of the current device can access this address. `role`: what messages call the pointer.
// Memory from cudaMallocAsync on a captured stream belongs to the graph: CUDA does not know it before the graph is
// launched.
void check_accessible(void const* p, char const* role, model::Device const& device, cudaStream_t stream);

}  // namespace inlay
