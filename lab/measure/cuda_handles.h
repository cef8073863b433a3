// Owners of CUDA handles, which release them at the end of their scope.
#pragma once
#include <inlay/error.h>

#include <memory>

namespace inlay::lab {

using detail::check;

template <auto destroy>
struct Destroy {
  template <class T>
  void operator()(T* handle) const {
    (void)destroy(handle);  // a destructor cannot report a failure
  }
};

using Stream = std::unique_ptr<CUstream_st, Destroy<cudaStreamDestroy>>;
using Event = std::unique_ptr<CUevent_st, Destroy<cudaEventDestroy>>;
using Graph = std::unique_ptr<CUgraph_st, Destroy<cudaGraphDestroy>>;
using GraphExec = std::unique_ptr<CUgraphExec_st, Destroy<cudaGraphExecDestroy>>;
using DeviceMemory = std::unique_ptr<char, Destroy<cudaFree>>;

inline Stream make_stream() {
  cudaStream_t s;
  check(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  return Stream(s);
}
inline Event make_event() {
  cudaEvent_t e;
  check(cudaEventCreate(&e));
  return Event(e);
}
inline DeviceMemory device_memory(std::size_t bytes) {
  void* p;
  check(cudaMalloc(&p, bytes));
  return DeviceMemory(static_cast<char*>(p));
}

}  // namespace inlay::lab
