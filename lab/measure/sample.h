// What is timed at once: a launch, or a graph of many launches, on alternating sets of buffers.
#pragma once
#include "measure/cuda_handles.h"
#include "measure/timing.h"

namespace inlay::lab {

// Two events around work on a stream.
struct Interval {
  Event begin = make_event(), end = make_event();

  template <class F>
  void around(cudaStream_t stream, F work) {
    check(cudaEventRecord(begin.get(), stream));
    work();
    check(cudaEventRecord(end.get(), stream));
  }
  // Waits for the end.
  double ms() const;
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

// One sample of a candidate.
class Sample {
 public:
  // Warms up. The last of these launches gives the duration of one.
  Sample(Timed const& timed, SetCycle& cycle, cudaStream_t stream);

  void use_graph(SetCycle& cycle, cudaStream_t stream);

  void enqueue(SetCycle& cycle, cudaStream_t stream) const;

  // Uses every set the same number of times, and returns that number.
  int enqueue_all_sets(SetCycle cycle, cudaStream_t stream) const;

  // Milliseconds of a sample, from one that this call enqueues.
  double measure(SetCycle& cycle, cudaStream_t stream) const;

  double single_ms() const { return single_ms_; }
  int launches() const { return launches_; }
  // How many of `wanted` samples are taken: fewer, but at least 5, of launches that take longer than 100 ms.
  int samples(int wanted) const;

 private:
  // Launches the graph once, because its first launch uploads it.
  void capture(int launches, SetCycle& cycle, cudaStream_t stream);

  Timed const& timed_;
  double single_ms_ = 0;
  int launches_ = 1;
  GraphExec graph_;
};

// A sample of each candidate, in their order: all of them graphs if the fastest launch takes less than 100 us.
std::vector<Sample> samples_of(std::vector<Timed> const& candidates, SetCycle& cycle, cudaStream_t stream,
                               Progress& progress);

}  // namespace inlay::lab
