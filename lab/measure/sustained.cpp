// Times each candidate alone.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

#include "measure/device_clock.h"
#include "measure/sample.h"
#include "measure/timing.h"

namespace inlay::lab {
namespace {

constexpr std::chrono::milliseconds kIdle{250};  // before the first launch of a candidate
constexpr double kHalfMs = 250;                  // launches that are not timed, and as many that are

// Samples back to back: as many untimed as timed ones. An event between two of `intervals` equal numbers of samples.
Sustained time_alone(Sample const& sample, int intervals, SetCycle& cycle, cudaStream_t stream) {
  int const each = std::max(1, int(std::ceil(kHalfMs / sample.measure(cycle, stream) / intervals)));
  check(cudaStreamSynchronize(stream));
  std::this_thread::sleep_for(kIdle);
  std::vector<Event> events;
  for (int i = 0; i <= intervals; ++i) events.push_back(make_event());
  ClockMeter meter;

  for (int k = 0; k < each * intervals; ++k) sample.enqueue(cycle, stream);
  meter.begin(stream);
  check(cudaEventRecord(events[0].get(), stream));
  for (int i = 1; i <= intervals; ++i) {
    for (int k = 0; k < each; ++k) sample.enqueue(cycle, stream);
    check(cudaEventRecord(events[std::size_t(i)].get(), stream));
  }
  double const clock_mhz = meter.end(stream);

  std::vector<double> ms;
  for (std::size_t i = 1; i < events.size(); ++i) {
    float elapsed = 0;
    check(cudaEventElapsedTime(&elapsed, events[i - 1].get(), events[i].get()));
    ms.push_back(double(elapsed) / (each * sample.launches()));
  }
  return {spread(std::move(ms)), clock_mhz};
}

}  // namespace

std::vector<Sustained> time_sustained(std::vector<Timed> const& candidates, int sets, int samples, cudaStream_t stream,
                                      Progress& progress) {
  SetCycle cycle(sets);
  std::vector<Sample> const all = samples_of(candidates, cycle, stream, progress);
  std::vector<Sustained> times;
  for (std::size_t i = 0; i < all.size(); ++i) {
    progress.say(fmt::format("timing {} alone", candidates[i].name));
    times.push_back(time_alone(all[i], all[i].samples(samples), cycle, stream));
    candidates[i].afterwards([&] { return all[i].enqueue_all_sets(cycle, stream); });
  }
  return times;
}

}  // namespace inlay::lab
