// Times launches with CUDA events, after a warm-up: all candidates in turn in each round, or each candidate alone.
#pragma once
#include <cuda_runtime_api.h>

#include <functional>
#include <string>
#include <vector>

#include "measure/stats.h"
#include "results/progress.h"

namespace inlay::lab {

// Enqueues the same number of launches on each set of buffers, and returns that number.
using AllSets = std::function<int()>;

// A candidate to time. A launch only enqueues, so that it can be captured into a graph. It uses one of several equal
// sets of buffers, so that they are not in the cache.
struct Timed {
  std::string name;
  std::function<void(int set, cudaStream_t)> launch;
  // Called after the candidate was timed. Its argument launches on all sets once more as in the timing: by the same
  // graph, with the same workspace.
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
// Times one candidate after the other. For each, the GPU idles for 250 ms; then launches follow each other for 250 ms
// without being timed, and as many launches again are timed, in `samples` intervals of equal numbers of launches.
// Unlike in time_interleaved(), a candidate's launches are not mixed with those of others: a candidate that heats the
// GPU makes it lower its SM clock, and launches of other candidates would be timed at that lower clock. A candidate
// whose launch takes longer than 100 ms is timed in fewer intervals than `samples`, but at least 5, because each
// interval has at least one launch. As for time_interleaved(), every launch must have run before without error; fast
// launches are captured in graphs.
std::vector<Sustained> time_sustained(std::vector<Timed> const& candidates, int sets, int samples, cudaStream_t stream,
                                      Progress& progress);

}  // namespace inlay::lab
