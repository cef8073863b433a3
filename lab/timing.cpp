#include "timing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace inlay::lab {
namespace {

constexpr int kWarmUps = 3;
constexpr double kLongEnoughMs = 0.1;  // from here on a launch is timed by itself
constexpr double kReplayMs = 1;        // shorter launches are timed many at once, about this long

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

// `launches` of them in a row, one buffer pair after the other, as a graph: no gaps while the host prepares the next.
GraphExec back_to_back(Contender const& contender, BufferPairs const& buffers, int launches, cudaStream_t stream) {
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
  for (int k = 0; k < launches; ++k)
    contender.launch(buffers.dst(k % buffers.count()), buffers.src(k % buffers.count()), stream);
  cudaGraph_t captured;
  check(cudaStreamEndCapture(stream, &captured));
  Graph const graph(captured);
  cudaGraphExec_t exec;
  check(cudaGraphInstantiate(&exec, graph.get(), 0));
  return GraphExec(exec);
}

// What one sample of a contender is: a launch, or a graph of many.
class Sample {
 public:
  Sample(Contender const& contender, BufferPairs const& buffers, cudaStream_t stream)
      : contender_(contender), buffers_(buffers) {
    for (int k = 0; k < kWarmUps; ++k) enqueue(stream);
    if (buffers.count() == 1 && measure(stream) >= kLongEnoughMs) return;
    launches_ = whole_turns(16);
    graph_ = back_to_back(contender, buffers, launches_, stream);
    enqueue(stream);
    int const enough = whole_turns(int(std::ceil(kReplayMs * launches_ / measure(stream))));
    if (enough > launches_) {
      launches_ = enough;
      graph_ = back_to_back(contender, buffers, launches_, stream);
      enqueue(stream);
    }
  }

  void enqueue(cudaStream_t stream) const {
    if (graph_)
      check(cudaGraphLaunch(graph_.get(), stream));
    else
      contender_.launch(buffers_.dst(0), buffers_.src(0), stream);
  }
  int launches() const { return launches_; }

 private:
  double measure(cudaStream_t stream) const {
    Interval interval;
    interval.around(stream, [&] { enqueue(stream); });
    return interval.ms();
  }
  // At least n launches, and every buffer pair equally often: else the next contender would find the last pairs cached.
  int whole_turns(int n) const { return (n + buffers_.count() - 1) / buffers_.count() * buffers_.count(); }

  Contender const& contender_;
  BufferPairs const& buffers_;
  int launches_ = 1;
  GraphExec graph_;
};

}  // namespace

std::vector<Spread> time_interleaved(std::vector<Contender const*> const& contenders, BufferPairs const& buffers,
                                     int samples, cudaStream_t stream, Progress& progress) {
  std::vector<Sample> all;
  for (Contender const* contender : contenders) {
    progress.say(fmt::format("warming up {}", contender->name));
    all.emplace_back(*contender, buffers, stream);
  }
  std::vector<std::vector<Interval>> intervals(all.size());
  for (auto& of_one : intervals) of_one.resize(std::size_t(samples));

  for (std::size_t round = 0; round < std::size_t(samples); ++round) {
    for (std::size_t i = 0; i < all.size(); ++i) intervals[i][round].around(stream, [&] { all[i].enqueue(stream); });
    // The host stays a round ahead: an idle GPU would stamp an event and then wait for the launch behind it.
    if (round && !all.empty()) check(cudaEventSynchronize(intervals.back()[round - 1].end.get()));
    progress.say(fmt::format("round {} of {}", round + 1, samples));
  }

  std::vector<Spread> spreads;
  for (std::size_t i = 0; i < all.size(); ++i) {
    std::vector<double> ms;
    for (Interval const& interval : intervals[i]) ms.push_back(interval.ms() / all[i].launches());
    spreads.push_back(spread(std::move(ms)));
  }
  return spreads;
}

}  // namespace inlay::lab
