// Times launches with CUDA events, after a warm-up: all candidates in turn in each round, or each candidate alone.
#pragma once
#include <cuda_runtime_api.h>

#include <functional>
#include <string>
#include <vector>

#include "measure/progress.h"
#include "measure/stats.h"

namespace inlay::lab {

// Enqueues the same number of launches on each set of buffers, and returns that number.
using AllSets = std::function<int()>;

// A candidate to time. A launch only enqueues, so that it can be captured into a graph. It uses one of several equal
// sets of buffers, so that they are not in the cache.
struct Timed {
  std::string name;
  std::function<void(int set, cudaStream_t)> launch;
  // Called after the candidate was timed. Its argument launches on all sets once more as in the timing: by the same graph, with the
  // same workspace.
  std::function<void(AllSets const&)> afterwards;
};

// Milliseconds of one launch of each candidate, over `samples` rounds. A candidate that takes longer than 100 ms takes
// part in fewer rounds, at least 5. Every launch must have run before without error. If the fastest candidate takes
// less than 100 us, all are timed as graphs of back-to-back launches, otherwise launch by launch.
std::vector<Spread> time_interleaved(std::vector<Timed> const& candidates, int sets, int samples, cudaStream_t stream,
                                     Progress& progress);

// Milliseconds of one launch, and the mean SM clock meanwhile; 0: unknown.
struct Sustained {
  Spread ms;
  double clock_mhz;
};
// Times one candidate after the other: a quarter of a second idle, launches back to back for a quarter of a second that are not timed,
// and as many that are, in `samples` equal intervals. Interleaved, candidates that heat the GPU would lower the clock of the others. A
// candidate that takes longer than 100 ms has fewer intervals, at least 5. Graphs and requirements are those of time_interleaved().
std::vector<Sustained> time_sustained(std::vector<Timed> const& candidates, int sets, int samples, cudaStream_t stream,
                                      Progress& progress);

}  // namespace inlay::lab
