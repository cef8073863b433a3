#include "measure/timing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>

#include "measure/cuda_handles.h"

namespace inlay::lab {
namespace {

constexpr int kWarmUps = 3;
constexpr double kLongEnoughMs = 0.1;  // launches at least this long are timed one by one
constexpr double kReplayMs = 1;        // duration of a graph of shorter launches, which is timed as a whole
constexpr double kTooLongMs = 100;     // longer launches have fewer samples
constexpr int kFewestSamples = 5;

// Two events around work on a stream.
struct Interval {
  Event begin = make_event(), end = make_event();

  template <class F>
  void around(cudaStream_t stream, F work) {
    check(cudaEventRecord(begin.get(), stream));
    work();
    check(cudaEventRecord(end.get(), stream));
  }
  double ms() const {
    float ms = 0;
    check(cudaEventSynchronize(end.get()));
    check(cudaEventElapsedTime(&ms, begin.get(), end.get()));
    return ms;
  }
};

// Cycles through the sets of buffers: the next set is the least recently used by any candidate.
class SetCycle {
 public:
  explicit SetCycle(int sets) : sets_(sets) {}
  int next() { return next_++ % sets_; }
  void restart() { next_ = 0; }
  // n rounded up to the same number of launches on every set: otherwise the next candidate would find sets in the
  // cache.
  int whole_cycles(int n) const { return (n + sets_ - 1) / sets_ * sets_; }

 private:
  int sets_, next_ = 0;
};

// A graph of `launches` launches, one set after the other, without gaps in which the host prepares the next launch.
GraphExec back_to_back(Timed const& timed, SetCycle cycle, int launches, cudaStream_t stream) {
  cycle.restart();
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
  for (int k = 0; k < launches; ++k) timed.launch(cycle.next(), stream);
  cudaGraph_t captured;
  check(cudaStreamEndCapture(stream, &captured));
  Graph const graph(captured);
  cudaGraphExec_t exec;
  check(cudaGraphInstantiate(&exec, graph.get(), 0));
  return GraphExec(exec);
}

// One sample of a candidate: a launch, or a graph of many launches.
class Sample {
 public:
  // Warms up. The last of these launches gives the duration of one.
  Sample(Timed const& timed, SetCycle& cycle, cudaStream_t stream) : timed_(timed) {
    for (int k = 0; k < kWarmUps && single_ms_ < kTooLongMs; ++k) single_ms_ = measure(cycle, stream);
  }

  void use_graph(SetCycle& cycle, cudaStream_t stream) {
    capture(cycle.whole_cycles(16), cycle, stream);
    int const enough = cycle.whole_cycles(int(std::ceil(kReplayMs * launches_ / measure(cycle, stream))));
    if (enough > launches_) capture(enough, cycle, stream);
  }

  void enqueue(SetCycle& cycle, cudaStream_t stream) const {
    if (graph_) {
      check(cudaGraphLaunch(graph_.get(), stream));
      cycle.restart();
    } else {
      timed_.launch(cycle.next(), stream);
    }
  }

  // Uses every set the same number of times, and returns that number.
  int enqueue_all_sets(SetCycle cycle, cudaStream_t stream) const {
    cycle.restart();
    int const all = cycle.whole_cycles(launches_);
    for (int done = 0; done < all; done += launches_) enqueue(cycle, stream);
    return all / cycle.whole_cycles(1);
  }

  double single_ms() const { return single_ms_; }
  int launches() const { return launches_; }
  int samples(int wanted) const {
    return std::min(wanted, std::max(kFewestSamples, int(wanted * std::min(1., kTooLongMs / single_ms_))));
  }

 private:
  double measure(SetCycle& cycle, cudaStream_t stream) const {
    Interval interval;
    interval.around(stream, [&] { enqueue(cycle, stream); });
    return interval.ms();
  }
  // Launches the graph once, because its first launch uploads it.
  void capture(int launches, SetCycle& cycle, cudaStream_t stream) {
    launches_ = launches;
    graph_ = back_to_back(timed_, cycle, launches, stream);
    enqueue(cycle, stream);
  }

  Timed const& timed_;
  double single_ms_ = 0;
  int launches_ = 1;
  GraphExec graph_;
};

// Selects n of the rounds, evenly spread.
bool takes_part(int round, int n, int rounds) { return (round + 1) * n / rounds > round * n / rounds; }

}  // namespace

std::vector<Spread> time_interleaved(std::vector<Timed> const& candidates, int sets, int samples, cudaStream_t stream,
                                     Progress& progress) {
  SetCycle cycle(sets);
  std::vector<Sample> all;
  double fastest = kLongEnoughMs;
  for (Timed const& timed : candidates) {
    progress.say(fmt::format("warming up {}", timed.name));
    fastest = std::min(fastest, all.emplace_back(timed, cycle, stream).single_ms());
  }
  if (fastest < kLongEnoughMs)
    for (Sample& sample : all) sample.use_graph(cycle, stream);

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
