#include "measure/host_time.h"

#include <inlay/copy.h>
#include <inlay/gemm.h>
#include <inlay/plan/candidate.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <vector>

#include "measure/buffers.h"
#include "measure/gemm_buffers.h"
#include "measure/stats.h"

namespace inlay::lab {
namespace {

using Clock = std::chrono::steady_clock;
using Enqueue = std::function<void()>;

constexpr int kCalls = 10'000;
constexpr int kPairsInFlight = 128;  // two calls each: far fewer than the queue takes before a launch waits
constexpr double kLongEnough = 1e6;  // microseconds

double microseconds(Enqueue const& call) {
  auto const begin = Clock::now();
  call();
  return std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
}

HostTime in_turn(Enqueue const& call, Enqueue const& bare, cudaStream_t stream) {
  auto const wait = [&] { check(cudaStreamSynchronize(stream)); };
  double const pair_us = microseconds([&] { call(), bare(), wait(); });
  int const in_flight = int(std::clamp(kLongEnough / pair_us, 4., double(kPairsInFlight)));

  std::vector<double> call_us, bare_us;
  double spent = 0;
  while (int(call_us.size()) < kCalls && spent < kLongEnough)
    spent += microseconds([&] {
      for (int k = 0; k < in_flight; ++k) {
        call_us.push_back(microseconds(call));
        bare_us.push_back(microseconds(bare));
      }
      wait();
    });
  int const calls = int(call_us.size());
  return {spread(std::move(call_us)).median, spread(std::move(bare_us)).median, calls};
}

// One set of buffers: what the caches hold does not matter to the host.
HostTime host_time_of(Case const& c, cudaStream_t stream) {
  BufferPairs const buffers(c, 0, stream);
  Tensor const dst = transposed_view(c, buffers.dst(0)), src = source_view(c, buffers.src(0));
  Device const& device = current_device();
  auto const plan = make_plan(transpose_move(c, buffers.dst(0), buffers.src(0)), device, false);
  Operands const operands{{dst.data, src.data, nullptr}, nullptr};
  return in_turn([&] { transpose(dst, src, stream); }, [&] { planning::run(plan, device, operands, stream); }, stream);
}

HostTime host_time_of(GemmCase const& c, cudaStream_t stream) {
  GemmBuffers const buffers(c, 0);
  buffers.fill({}, 1, stream);
  GemmCall const call = buffers.call(0);
  GemmViews const v = views(c, call);
  Device const& device = current_device();
  auto const plan = make_plan(gemm_of(c, call), device, true);
  DeviceMemory const workspace = device_memory(std::max<std::size_t>(plan.workspace_bytes, 1));
  GemmOptions const options{c.compute, workspace.get(), plan.workspace_bytes};
  Operands const operands{{v.a.data, v.b.data, v.c.data}, workspace.get()};
  Epilogue const epilogue{c.alpha, c.beta};
  return in_turn([&] { gemm(v.a, v.b, v.c, epilogue, stream, options); },
                 [&] { planning::run(plan, device, operands, stream); }, stream);
}

}  // namespace

HostTime host_time(Problem const& problem, cudaStream_t stream) {
  return std::visit([&](auto const& c) { return host_time_of(c, stream); }, problem);
}

}  // namespace inlay::lab
