// The errors of the rows of a table of GEMMs on data sets, against sums in fp64.
#pragma once
#include <vector>

#include "measure/gemm_checker.h"
#include "results/error_data.h"
#include "results/progress.h"
#include "results/results.h"

namespace inlay::lab {

// Launches each candidate whose row is ok on each data set, which overwrites the operands of `call`, and sets the
// errors of the row. A row whose launch fails is not ok any more. Cases that --errors does not take are skipped.
void add_errors(GemmCase const& c, std::vector<GemmCandidate> const& candidates, GemmCall const& call,
                std::vector<ErrorData> const& data, std::vector<Row>& rows, cudaStream_t stream, Progress& progress);

// Sets of_cublas of all errors, from those of the row `cublas` on the same data.
void compare_errors(std::vector<DataError> const& of_cublas, std::vector<Row>& rows);

}  // namespace inlay::lab
