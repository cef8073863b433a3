#include "measure/timing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>

#include "measure/cuda_handles.h"

namespace inlay::lab {
namespace {

constexpr int kWarmUps = 3;
constexpr double kLongEnoughMs = 0.1;  // from here on a launch is timed by itself
constexpr double kReplayMs = 1;        // shorter launches are timed many at once, about this long
constexpr double kTooLongMs = 100;     // from here on there are fewer samples
constexpr int kFewestSamples = 5;

// Two events around some work; the time is asked for when the stream has come past the second.
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

// Which set of buffers comes next: the one that was used longest ago, whoever used it.
class Turn {
 public:
  explicit Turn(int sets) : sets_(sets) {}
  int next() { return next_++ % sets_; }
  void all_done() { next_ = 0; }
  // At least n launches, and every set equally often: else the next candidate would find the last sets cached.
  int whole_turns(int n) const { return (n + sets_ - 1) / sets_ * sets_; }

 private:
  int sets_, next_ = 0;
};

// `launches` of them in a row, one set after the other, as a graph: no gaps while the host prepares the next.
GraphExec back_to_back(Timed const& timed, Turn turn, int launches, cudaStream_t stream) {
  turn.all_done();
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
  for (int k = 0; k < launches; ++k) timed.launch(turn.next(), stream);
  cudaGraph_t captured;
  check(cudaStreamEndCapture(stream, &captured));
  Graph const graph(captured);
  cudaGraphExec_t exec;
  check(cudaGraphInstantiate(&exec, graph.get(), 0));
  return GraphExec(exec);
}

// What one sample of a candidate is: a launch, or a graph of many.
class Sample {
 public:
  // Warms up: the last of these launches says how long one takes.
  Sample(Timed const& timed, Turn& turn, cudaStream_t stream) : timed_(timed) {
    for (int k = 0; k < kWarmUps && single_ms_ < kTooLongMs; ++k) single_ms_ = measure(turn, stream);
  }

  void use_graph(Turn& turn, cudaStream_t stream) {
    capture(turn.whole_turns(16), turn, stream);
    int const enough = turn.whole_turns(int(std::ceil(kReplayMs * launches_ / measure(turn, stream))));
    if (enough > launches_) capture(enough, turn, stream);
  }

  void enqueue(Turn& turn, cudaStream_t stream) const {
    if (graph_) {
      check(cudaGraphLaunch(graph_.get(), stream));
      turn.all_done();
    } else {
      timed_.launch(turn.next(), stream);
    }
  }

  // Every set as often as every other; how often.
  int enqueue_all_sets(Turn turn, cudaStream_t stream) const {
    turn.all_done();
    int const all = turn.whole_turns(launches_);
    for (int done = 0; done < all; done += launches_) enqueue(turn, stream);
    return all / turn.whole_turns(1);
  }

  double single_ms() const { return single_ms_; }
  int launches() const { return launches_; }
  int samples(int wanted) const {
    return std::min(wanted, std::max(kFewestSamples, int(wanted * std::min(1., kTooLongMs / single_ms_))));
  }

 private:
  double measure(Turn& turn, cudaStream_t stream) const {
    Interval interval;
    interval.around(stream, [&] { enqueue(turn, stream); });
    return interval.ms();
  }
  // Launched once too: the first launch of a graph uploads it.
  void capture(int launches, Turn& turn, cudaStream_t stream) {
    launches_ = launches;
    graph_ = back_to_back(timed_, turn, launches, stream);
    enqueue(turn, stream);
  }

  Timed const& timed_;
  double single_ms_ = 0;
  int launches_ = 1;
  GraphExec graph_;
};

// n of all rounds, evenly.
bool takes_part(int round, int n, int rounds) { return (round + 1) * n / rounds > round * n / rounds; }

}  // namespace

std::vector<Spread> time_interleaved(std::vector<Timed> const& candidates, int sets, int samples, cudaStream_t stream,
                                     Progress& progress) {
  Turn turn(sets);
  std::vector<Sample> all;
  double fastest = kLongEnoughMs;
  for (Timed const& timed : candidates) {
    progress.say(fmt::format("warming up {}", timed.name));
    fastest = std::min(fastest, all.emplace_back(timed, turn, stream).single_ms());
  }
  if (fastest < kLongEnoughMs)
    for (Sample& sample : all) sample.use_graph(turn, stream);

  std::vector<std::deque<Interval>> intervals(all.size());
  Interval const* before = nullptr;  // the last of the round before
  for (int round = 0; round < samples; ++round) {
    Interval const* last = nullptr;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (!takes_part(round, all[i].samples(samples), samples)) continue;
      Interval& interval = intervals[i].emplace_back();
      interval.around(stream, [&] { all[i].enqueue(turn, stream); });
      last = &interval;
    }
    // The host stays a round ahead: an idle GPU would stamp an event and then wait for the launch behind it.
    if (before) check(cudaEventSynchronize(before->end.get()));
    before = last;
    progress.say(fmt::format("round {} of {}", round + 1, samples));
  }

  std::vector<Spread> spreads;
  for (std::size_t i = 0; i < all.size(); ++i) {
    std::vector<double> ms;
    for (Interval const& interval : intervals[i]) ms.push_back(interval.ms() / all[i].launches());
    spreads.push_back(spread(std::move(ms)));
    candidates[i].afterwards([&] { return all[i].enqueue_all_sets(turn, stream); });
  }
  return spreads;
}

}  // namespace inlay::lab
