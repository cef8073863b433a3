#include "measure/host_time.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <vector>

#include "measure/stats.h"

namespace inlay::lab {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kCalls = 10'000;
constexpr int kPairsInFlight =
    128;  // of two calls each: far fewer launches than the queue holds before the host blocks
constexpr double kLongEnough = 1e6;  // microseconds

double microseconds(std::function<void()> const& call) {
  auto const begin = Clock::now();
  call();
  return std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
}

}  // namespace

HostTime in_turn(std::function<void()> const& call, std::function<void()> const& bare, cudaStream_t stream) {
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

}  // namespace inlay::lab
