#include "access.h"

#include <string>

namespace inlay {

using model::Device;

bool is_capturing(cudaStream_t stream) {
  if (stream == nullptr || stream == cudaStreamLegacy)
    return false;  // cannot be captured, and must not be queried during another capture
  cudaStreamCaptureStatus status{};
  detail::check(cudaStreamIsCapturing(stream, &status));
  return status != cudaStreamCaptureStatusNone;
}

void check_stream(cudaStream_t stream, Device const& device) {
  if (stream == nullptr || stream == cudaStreamLegacy || stream == cudaStreamPerThread) return;
#if CUDART_VERSION >= 12080
  if (is_capturing(stream)) return;
  int id = 0;
  detail::check(cudaStreamGetDevice(stream, &id));
  if (id != device.id)
    throw Error("the stream belongs to device " + std::to_string(id) + ", the current device is " +
                std::to_string(device.id));
#endif
}

void check_accessible(void const* p, char const* role, Device const& device, cudaStream_t stream) {
  cudaPointerAttributes a{};
  detail::check(cudaPointerGetAttributes(&a, p));
  auto const who = [&] { return std::string("the ") + role + " pointer "; };
  auto const here = [&] { return "device " + std::to_string(device.id); };
  if (a.type == cudaMemoryTypeUnregistered) {
    if (device.pageable_access || is_capturing(stream)) return;
    throw Error(who() + "is host memory that CUDA does not know, and " + here() + " cannot access pageable memory");
  }
  if (a.type == cudaMemoryTypeHost && a.devicePointer != p)
    throw Error(who() + "is host memory that " + here() + " cannot access at this address");
  if (a.type == cudaMemoryTypeDevice && a.device != device.id && a.devicePointer != p) {
    int can = 0;
    detail::check(cudaDeviceCanAccessPeer(&can, device.id, a.device));
    throw Error(who() + "belongs to device " + std::to_string(a.device) + ", which " + here() +
                (can ? " can access only after cudaDeviceEnablePeerAccess" : " cannot access"));
  }
}

}  // namespace inlay
