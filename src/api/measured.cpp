#include "measured.h"

#include <inlay/error.h>

#include <algorithm>
#include <chrono>
#include <cmath>

namespace inlay {
namespace {

using planner::Plan;

constexpr int kRounds = 7;  // of all plans, after one that warms up

struct Event {
  cudaEvent_t id{};
  Event() { detail::check(cudaEventCreate(&id)); }
  Event(Event const&) = delete;
  ~Event() { cudaEventDestroy(id); }
};

// Measures time on a stream.
class Timer {
 public:
  explicit Timer(cudaStream_t stream) : stream_(stream) {}

  // Milliseconds of f on the GPU, as the mean of `times` calls back to back.
  template <class F>
  float operator()(int times, F const& f) {
    float ms = 0;
    detail::check(cudaEventRecord(begin_.id, stream_));
    for (int i = 0; i < times; ++i) f();
    detail::check(cudaEventRecord(end_.id, stream_));
    detail::check(cudaEventSynchronize(end_.id));
    detail::check(cudaEventElapsedTime(&ms, begin_.id, end_.id));
    return ms / float(times);
  }

 private:
  cudaStream_t stream_;
  Event begin_, end_;
};

}  // namespace

Timing fastest(std::vector<Plan> plans, std::size_t num_candidates, model::Device const& device, double milliseconds,
               planner::Operands const& operands, cudaStream_t stream) {
  auto const begin = std::chrono::steady_clock::now();
  auto const is_spent = [&] {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count() > milliseconds;
  };
  if (plans.empty()) return {};
  for (Plan& plan : plans) planner::make_launches(plan, device);
  std::vector<float> least(plans.size(), HUGE_VALF);
  std::vector<int> times(plans.size(), 1);  // several short runs are timed together
  Timer time(stream);
  // Plans in turn, so that a change of the clock meets all of them. The first ones are the likeliest: they are timed
  // whatever it costs.
  for (int round = 0; round <= kRounds && !(round > 1 && is_spent()); ++round)
    for (std::size_t i = 0; i < plans.size() && !(i > 0 && is_spent()); ++i) {
      float const ms = time(times[i], [&] { planner::run(plans[i], device, operands, stream); });
      if (round == 0) times[i] = std::clamp(int(.2f / std::max(ms, .001f)), 1, 20);
      if (round > 0 || is_spent()) least[i] = std::min(least[i], ms);
    }
  std::size_t const best = std::size_t(std::ranges::min_element(least) - least.begin());
  std::vector<float> us(num_candidates);
  for (std::size_t i = 0; i < plans.size(); ++i) {
    float& of_candidate = us[std::size_t(plans[i].candidate)];
    if (least[i] < HUGE_VALF && (of_candidate == 0 || 1000 * least[i] < of_candidate)) of_candidate = 1000 * least[i];
  }
  Timing t{std::move(plans[best]), 1000 * double(least[best])};
  t.plan.measured_us = std::move(us);
  return t;
}

}  // namespace inlay
