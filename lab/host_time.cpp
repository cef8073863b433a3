#include "host_time.h"

#include <inlay/copy.h>

#include <chrono>
#include <vector>

#include "buffer_pairs.h"
#include "plan/plan.h"
#include "stats.h"

namespace inlay::lab {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kCalls = 10'000;
constexpr int kPairsInFlight = 128;  // two launches each: far fewer than the queue takes before a launch waits
constexpr std::chrono::seconds kLongEnough{1};

template <class F>
double microseconds(F call) {
  auto const begin = Clock::now();
  call();
  return std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
}

}  // namespace

HostTime host_time(Case const& c, cudaStream_t stream) {
  BufferPairs const buffers(c, 0, stream);  // one pair: what the caches hold does not matter to the host
  Tensor const dst = transposed_view(c, buffers.dst(0)), src = source_view(c, buffers.src(0));
  Move const move = transpose_move(c, buffers.dst(0), buffers.src(0));
  Device const& device = current_device();
  auto const plan = plan_move(move, device);

  std::vector<double> call_us, bare_us;
  auto const deadline = Clock::now() + kLongEnough;
  while (int(call_us.size()) < kCalls && (call_us.empty() || Clock::now() < deadline)) {
    for (int k = 0; k < kPairsInFlight; ++k) {
      call_us.push_back(microseconds([&] { transpose(dst, src, stream); }));
      bare_us.push_back(microseconds([&] { plan.chosen->run(move, device, nullptr, stream); }));
    }
    check(cudaStreamSynchronize(stream));
  }
  int const calls = int(call_us.size());
  return {spread(std::move(call_us)).median, spread(std::move(bare_us)).median, calls};
}

}  // namespace inlay::lab
