// `inlay bench`: what it is asked for, and what it prints and writes. measure/bench.h measures.
#pragma once
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "problems/gemm_case.h"
#include "problems/suites.h"

namespace inlay::lab {

struct GemmCandidate;

struct BenchOptions {
  std::vector<SuiteCase> cases;
  int samples = 15;
  bool host = false;           // measure the host's time per call too
  std::filesystem::path json;  // empty: no file
  std::string command;         // as it was typed, for the file
  // Others' GEMMs, for the same table; null: none.
  std::function<std::vector<GemmCandidate>(GemmCase const&)> baselines;
};

// A table per case on stdout, and the file if one is asked for. False when a check result is FAILED. Throws UsageError where there
// is no GPU; Error, before anything is measured, where the file cannot be written.
bool run_bench(BenchOptions const& options);

}  // namespace inlay::lab
