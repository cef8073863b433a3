// One table, measured. Nothing is printed but progress.
#pragma once
#include "results/bench.h"
#include "results/results.h"

namespace inlay::lab {

struct Measured {
  std::vector<Row> rows;
  double clock_mhz;  // right behind the measurement
};
Measured bench(SuiteCase const& listed, BenchOptions const& options);

}  // namespace inlay::lab
