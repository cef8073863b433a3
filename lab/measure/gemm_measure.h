// One product: every contender verified on whole numbers, then timed on uniform ones, where its error is told too.
#pragma once
#include <functional>
#include <vector>

#include "measure/gemm_contenders.h"
#include "progress.h"
#include "results/results.h"

namespace inlay::lab {

// The contenders of a case, cuBLAS first; `call` is one of those they will be launched with.
using GemmContenders = std::function<std::vector<GemmContender>(GemmCase const&, GemmCall const& call)>;

// The rows in the order of the contenders.
std::vector<Row> measure(GemmCase const& c, GemmContenders const& contenders, int samples, cudaStream_t stream,
                         Progress& progress);

}  // namespace inlay::lab
