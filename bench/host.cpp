// Measures what calls cost the host, until their launches are enqueued: beside as many launches of a kernel that does
// nothing.
// usage: host  (prints JSON rows: medians, in microseconds)
#include <inlay/copy.h>
#include <inlay/gemm.h>

#include <chrono>
#include <cstdio>
#include <exception>
#include <nlohmann/json.hpp>
#include <string>

#include "measure/cuda_handles.h"
#include "measure/device_clock.h"
#include "measure/host_time.h"
#include "measure/stats.h"

namespace inlay::lab {
namespace {

constexpr std::int64_t kBytes = 64 << 20;

class Rows {
 public:
  // A call whose plan is cached: launches as many kernels as `launches` says.
  void cached(std::string const& name, int launches, std::function<void()> const& call) {
    call();
    HostTime const t = in_turn(
        call,
        [&] {
          for (int i = 0; i < launches; ++i) launch_nothing(stream_.get());
        },
        stream_.get());
    print({{"case", name}, {"call_us", t.call_us}, {"bare_us", t.bare_us}, {"beyond_us", t.call_us - t.bare_us}});
  }
  // Plans that are not cached: make(i) makes another one for each i.
  void planned(std::string const& name, std::function<void(int)> const& make) {
    std::vector<double> us;
    for (int i = 0; i < 1000; ++i) {
      auto const begin = std::chrono::steady_clock::now();
      make(i);
      us.push_back(std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count());
    }
    print({{"case", name}, {"call_us", spread(std::move(us)).median}});
  }
  cudaStream_t stream() const { return stream_.get(); }

 private:
  void print(nlohmann::ordered_json row) {
    std::printf("%s%s", first_ ? "[\n" : ",\n", row.dump().c_str());
    first_ = false;
  }
  Stream stream_ = make_stream();
  bool first_ = true;
};

Tensor square(char* p, std::int64_t n, std::int64_t pitch) {
  Tensor t = matrix(p, f32, n, n);
  t.stride[0] = pitch;
  return t;
}

void run() {
  Rows rows;
  DeviceMemory const a = device_memory(kBytes), b = device_memory(kBytes), d = device_memory(kBytes),
                     w = device_memory(kBytes);
  cudaStream_t const s = rows.stream();

  Tensor const dst2 = matrix(d.get(), f32, 256, 256);
  ConstTensor const src2 = matrix(a.get(), f32, 256, 256);
  rows.cached("copy of rank 2", 1, [&] { transpose(dst2, src2, s); });
  Tensor const dst5 = tensor(static_cast<void*>(d.get()), f32, {8, 6, 10, 7, 12});
  ConstTensor const src5 = tensor(static_cast<void const*>(a.get()), f32, {12, 7, 10, 6, 8}).permuted({4, 3, 2, 1, 0});
  rows.cached("copy of rank 5", 1, [&] { copy(dst5, src5, s); });
  Plan const copies = plan(dst5, src5);
  rows.cached("Plan::run, copy of rank 5", 1, [&] { copies.run(d.get(), a.get(), s); });

  Tensor const D = square(d.get(), 64, 64);
  ConstTensor const A = square(a.get(), 64, 64), B = square(b.get(), 64, 64);
  rows.cached("gemm of one launch", 1, [&] { gemm(A, B, D, {}, s); });
  Plan const one = plan(A, B, D, {}, {}, {.most_workspace_bytes = 0});
  rows.cached("Plan::run, gemm of one launch", 1, [&] { one.run(a.get(), b.get(), d.get(), s); });

  std::int64_t const n = 1024;
  Tensor const D3 = square(d.get(), n, n);
  ConstTensor const A3 = square(a.get(), n, n + 1), B3 = square(b.get(), n, n + 1);
  GemmOptions const options{.workspace = w.get(), .workspace_bytes = gemm_workspace(A3, B3, D3)};
  rows.cached("gemm that packs both operands", 3, [&] { gemm(A3, B3, D3, {}, s, options); });
  std::fprintf(stderr, "%s\n", plan(A3, B3, D3).why().c_str());

  rows.planned("plan of rank 2", [&](int i) {
    ConstTensor const src = matrix(a.get(), f32, 300, 500 + i);
    plan(matrix(d.get(), f32, 500 + i, 300), src.transposed());
  });
  rows.planned("plan of rank 8", [&](int i) {
    ConstTensor const src = tensor(static_cast<void const*>(a.get()), f32, {3, 2, 5, 4, 3, 2, 7, 100 + i});
    plan(tensor(static_cast<void*>(d.get()), f32, {100 + i, 7, 2, 3, 4, 5, 2, 3}),
         src.permuted({7, 6, 5, 4, 3, 2, 1, 0}));
  });
  rows.planned("plan of a gemm that packs both operands", [&](int i) {
    ConstTensor const x = square(a.get(), n + i, n + i + 1 + i % 2), y = square(b.get(), n + i, n + i + 1 + i % 2);
    plan(x, y, square(d.get(), n + i, n + i));
  });
  std::printf("\n]\n");
}

}  // namespace
}  // namespace inlay::lab

int main() {
  try {
    inlay::lab::run();
    return 0;
  } catch (std::exception const& e) {
    std::fprintf(stderr, "host: %s\n", e.what());
    return 1;
  }
}
