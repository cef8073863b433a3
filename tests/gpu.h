// What the tests on the device share: buffers between guard bands, and skipping where there is no GPU.
#pragma once
#include <gtest/gtest.h>
#include <inlay/copy.h>
#include <inlay/error.h>

#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "corpus.h"

namespace inlay::test {

using detail::check;

inline bool gpu_present() {
  int n = 0;
  return cudaGetDeviceCount(&n) == cudaSuccess && n > 0;
}
#define NEEDS_GPU() \
  if (!gpu_present()) GTEST_SKIP() << "no GPU"
#define NEEDS_GPU_MEMORY(bytes)                                                                                   \
  NEEDS_GPU();                                                                                                    \
  if (std::size_t free = 0, total = 0; cudaMemGetInfo(&free, &total) != cudaSuccess || free < std::size_t(bytes)) \
  GTEST_SKIP() << "too little memory"

struct DeviceFree {
  void operator()(char* p) const { cudaFree(p); }
};
using DeviceBuffer = std::unique_ptr<char, DeviceFree>;
inline DeviceBuffer device_buffer(std::size_t bytes) {
  void* p = nullptr;
  check(cudaMalloc(&p, bytes));
  return DeviceBuffer(static_cast<char*>(p));
}
inline DeviceBuffer device_buffer(std::vector<char> const& content) {
  DeviceBuffer p = device_buffer(content.size());
  check(cudaMemcpy(p.get(), content.data(), content.size(), cudaMemcpyHostToDevice));
  check(cudaStreamSynchronize(nullptr));  // from pageable memory the copy returns early, and streams do not wait for it
  return p;
}

struct Stream {
  cudaStream_t id = nullptr;
  Stream() { check(cudaStreamCreateWithFlags(&id, cudaStreamNonBlocking)); }
  Stream(Stream const&) = delete;
  ~Stream() { cudaStreamDestroy(id); }
};

// Calls f(first, last) on equal shares of [0, n), each in a thread of its own.
template <class F>
void in_parallel(std::int64_t n, F f) {
  constexpr int kThreads = 8;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) threads.emplace_back([=, &f] { f(n * t / kThreads, n * (t + 1) / kThreads); });
  for (auto& t : threads) t.join();
}

// A case on the device: guard bands around both buffers, the output poisoned, what is expected kept on the host.
class OnDevice {
 public:
  static constexpr std::size_t kGuard = 512;
  Case c;
  Views v;
  int e;

  OnDevice(Case const& c, bool transpose, int e) : c(c), v(views_of(c, transpose)), e(e) {
    std::vector<char> in(std::size_t(v.in_elements * e) + 2 * kGuard);
    expected_.assign(std::size_t(v.out_elements * e) + 2 * kGuard, char(0xA5));
    std::uint64_t x = 88172645463325252u;
    for (char& b : in) x ^= x << 13, x ^= x >> 7, x ^= x << 17, b = char(x >> 32);
    in_ = device_buffer(in), out_ = device_buffer(expected_);
    for (std::int64_t l = 0; l < c.L; ++l)
      for (std::int64_t m = 0; m < c.M; ++m)
        for (std::int64_t n = 0; n < c.N; ++n)
          std::memcpy(&expected_[kGuard + std::size_t(out_offset(c, v, l, m, n) * e)],
                      &in[kGuard + std::size_t(in_offset(c, v, l, m, n) * e)], std::size_t(e));
  }
  Tensor src() const { return in_view(c, v, in_.get() + kGuard, e); }
  Tensor dst() const { return out_view(c, v, out_.get() + kGuard, e); }
  Copy copy() const { return copy_of(c, v, in_.get() + kGuard, out_.get() + kGuard, e); }

  // After the device has finished: how many bytes of the output's buffer are wrong, gaps and guards included.
  std::size_t wrong_bytes() const {
    std::vector<char> got(expected_.size());
    check(cudaMemcpy(got.data(), out_.get(), got.size(), cudaMemcpyDeviceToHost));
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < got.size(); ++i) wrong += got[i] != expected_[i];
    return wrong;
  }

 private:
  std::vector<char> expected_;
  DeviceBuffer in_, out_;
};

}  // namespace inlay::test
