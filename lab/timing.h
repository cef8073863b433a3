// How long launches take: CUDA events, warm-up, all contenders in turn in every round.
#pragma once
#include <vector>

#include "buffer_pairs.h"
#include "contenders.h"
#include "progress.h"
#include "stats.h"

namespace inlay::lab {

// Milliseconds of one launch of each contender, over `samples` rounds. Every launch must have run before without error.
std::vector<Spread> time_interleaved(std::vector<Contender const*> const& contenders, BufferPairs const& buffers,
                                     int samples, cudaStream_t stream, Progress& progress);

}  // namespace inlay::lab
