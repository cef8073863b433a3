// How long launches take: CUDA events, warm-up, all candidates in turn in every round.
#pragma once
#include <cuda_runtime_api.h>

#include <functional>
#include <string>
#include <vector>

#include "measure/progress.h"
#include "measure/stats.h"

namespace inlay::lab {

// Enqueues launches on all sets, and says how many on each.
using AllSets = std::function<int()>;

// What is timed. A launch only enqueues, so that it can be captured into a graph; it works on one of several equal sets of
// buffers, so that it need not find them in a cache.
struct Timed {
  std::string name;
  std::function<void(int set, cudaStream_t)> launch;
  // Is called after the rounds, with what does all sets once more as they were timed: the same graph, the same workspace.
  std::function<void(AllSets const&)> afterwards;
};

// Milliseconds of one launch of each, over `samples` rounds; what takes longer than 100 ms takes part in fewer of them,
// but in 5. Every launch must have run before without error. If the fastest takes less than 100 us, all are timed as
// graphs of launches back to back, else all one by one.
std::vector<Spread> time_interleaved(std::vector<Timed> const& candidates, int sets, int samples, cudaStream_t stream,
                                     Progress& progress);

}  // namespace inlay::lab
