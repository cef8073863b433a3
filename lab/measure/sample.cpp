#include "measure/sample.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace inlay::lab {
namespace {

constexpr int kWarmUps = 3;
constexpr double kLongEnoughMs = 0.1;  // launches at least this long are timed one by one
constexpr double kReplayMs = 1;        // duration of a graph of shorter launches, which is timed as a whole
constexpr double kTooLongMs = 100;     // longer launches have fewer samples
constexpr int kFewestSamples = 5;

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

}  // namespace

double Interval::ms() const {
  float ms = 0;
  check(cudaEventSynchronize(end.get()));
  check(cudaEventElapsedTime(&ms, begin.get(), end.get()));
  return ms;
}

Sample::Sample(Timed const& timed, SetCycle& cycle, cudaStream_t stream) : timed_(timed) {
  for (int k = 0; k < kWarmUps && single_ms_ < kTooLongMs; ++k) single_ms_ = measure(cycle, stream);
}

void Sample::use_graph(SetCycle& cycle, cudaStream_t stream) {
  capture(cycle.whole_cycles(16), cycle, stream);
  int const enough = cycle.whole_cycles(int(std::ceil(kReplayMs * launches_ / measure(cycle, stream))));
  if (enough > launches_) capture(enough, cycle, stream);
}

void Sample::enqueue(SetCycle& cycle, cudaStream_t stream) const {
  if (graph_) {
    check(cudaGraphLaunch(graph_.get(), stream));
    cycle.restart();
  } else {
    timed_.launch(cycle.next(), stream);
  }
}

int Sample::enqueue_all_sets(SetCycle cycle, cudaStream_t stream) const {
  cycle.restart();
  int const all = cycle.whole_cycles(launches_);
  for (int done = 0; done < all; done += launches_) enqueue(cycle, stream);
  return all / cycle.whole_cycles(1);
}

double Sample::measure(SetCycle& cycle, cudaStream_t stream) const {
  Interval interval;
  interval.around(stream, [&] { enqueue(cycle, stream); });
  return interval.ms();
}

int Sample::samples(int wanted) const {
  return std::min(wanted, std::max(kFewestSamples, int(wanted * std::min(1., kTooLongMs / single_ms_))));
}

void Sample::capture(int launches, SetCycle& cycle, cudaStream_t stream) {
  launches_ = launches;
  graph_ = back_to_back(timed_, cycle, launches, stream);
  enqueue(cycle, stream);
}

std::vector<Sample> samples_of(std::vector<Timed> const& candidates, SetCycle& cycle, cudaStream_t stream,
                               Progress& progress) {
  std::vector<Sample> all;
  double fastest = kLongEnoughMs;
  for (Timed const& timed : candidates) {
    progress.say(fmt::format("warming up {}", timed.name));
    fastest = std::min(fastest, all.emplace_back(timed, cycle, stream).single_ms());
  }
  if (fastest < kLongEnoughMs)
    for (Sample& sample : all) sample.use_graph(cycle, stream);
  return all;
}

}  // namespace inlay::lab
