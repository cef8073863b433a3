#include "measure/timing.h"

#include <fmt/format.h>

#include <deque>

#include "measure/cuda_handles.h"
#include "measure/sample.h"

namespace inlay::lab {
namespace {

// Selects n of the rounds, evenly spread.
bool takes_part(int round, int n, int rounds) { return (round + 1) * n / rounds > round * n / rounds; }

}  // namespace

std::vector<Spread> time_interleaved(std::vector<Timed> const& candidates, int sets, int samples, cudaStream_t stream,
                                     Progress& progress) {
  SetCycle cycle(sets);
  std::vector<Sample> const all = samples_of(candidates, cycle, stream, progress);

  std::vector<std::deque<Interval>> intervals(all.size());
  Interval const* before = nullptr;  // the last interval of the previous round
  for (int round = 0; round < samples; ++round) {
    Interval const* last = nullptr;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (!takes_part(round, all[i].samples(samples), samples)) continue;
      Interval& interval = intervals[i].emplace_back();
      interval.around(stream, [&] { all[i].enqueue(cycle, stream); });
      last = &interval;
    }
    // The host stays one round ahead: an idle GPU would record an event and then wait for the launch that follows.
    if (before) check(cudaEventSynchronize(before->end.get()));
    before = last;
    progress.say(fmt::format("round {} of {}", round + 1, samples));
  }

  std::vector<Spread> spreads;
  for (std::size_t i = 0; i < all.size(); ++i) {
    std::vector<double> ms;
    for (Interval const& interval : intervals[i]) ms.push_back(interval.ms() / all[i].launches());
    spreads.push_back(spread(std::move(ms)));
    candidates[i].afterwards([&] { return all[i].enqueue_all_sets(cycle, stream); });
  }
  return spreads;
}

}  // namespace inlay::lab
