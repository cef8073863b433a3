// `inlay bench`: its options, what it prints and what it writes. measure/bench.h measures.
#pragma once
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "problems/gemm_case.h"
#include "problems/suites.h"
#include "results/error_data.h"

namespace inlay::lab {

struct CopyCandidate;
struct GemmCandidate;

// How a table is measured.
struct MeasureOptions {
  int samples = 15;                    // of each row
  bool sustained = false;              // each row alone and back to back, not interleaved with the other rows
  std::vector<ErrorData> errors = {};  // GEMMs: data sets on which each row's error is measured too
};

struct BenchOptions : MeasureOptions {
  std::vector<SuiteCase> cases;
  bool host = false;           // measure the host's time per call too
  bool regret = false;         // GEMMs: rows of all candidates of the planner too
  std::filesystem::path json;  // empty: no file
  std::string tuning;          // tuned choices that the public functions take; empty: none
  std::string command;         // the command line, which the file records
  // More baselines for the same tables; null: none.
  std::function<std::vector<GemmCandidate>(GemmCase const&)> baselines;
  std::function<std::vector<CopyCandidate>(CopyCase const&)> copy_baselines;
};

// Prints a table for each case, and writes the JSON file if its name is not empty. Returns false if a check failed.
// Throws UsageError without a GPU, and Error, before it measures, if the file cannot be written.
bool run_bench(BenchOptions const& options);

}  // namespace inlay::lab
