// Measures the rows of one table. Prints progress only.
#pragma once
#include "results/bench.h"
#include "results/progress.h"
#include "results/results.h"

namespace inlay::lab {

struct Measured {
  std::vector<Row> rows;
  double clock_mhz;  // SM clock, measured directly after the rows
};
Measured bench(SuiteCase const& listed, BenchOptions const& options, Progress& progress);

}  // namespace inlay::lab
