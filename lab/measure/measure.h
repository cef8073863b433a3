// One case: verify every contender, then time those that are right.
#pragma once
#include <vector>

#include "measure/contenders.h"
#include "progress.h"
#include "results/results.h"

namespace inlay::lab {

// The rows in the order of the contenders, which begin with the two of copy_limit().
std::vector<Row> measure(Case const& c, std::vector<Contender> const& contenders, int samples, cudaStream_t stream,
                         Progress& progress);

}  // namespace inlay::lab
