// What was measured, and what others published: the files under results/.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "problems/problem.h"

namespace inlay::lab {

struct HostTime {
  double call_us, bare_us;  // medians: the public function; the launches alone that the planner picks
  int calls = 0;            // of each; 0 where that is not known any more
};

// One line of a table. Without the check result "ok" there are no numbers.
struct Row {
  std::string suite;
  Problem measured;
  std::string kernel;
  std::string check_result;  // "ok", "rejected: ...", "FAILED: ..."
  std::optional<double> ms_median, ms_iqr;
  std::optional<double> rate, share, of_peak;     // GB/s, of the copy limit; TFLOP/s, of cuBLAS
  std::optional<double> rel_err, rel_err_cublas;  // of GEMMs: relative, in Frobenius' norm, against fp64
  std::optional<HostTime> host;                   // of the public function

  bool ok() const { return check_result == "ok"; }
};

struct Results {
  std::string device;
  double clock_mhz = 0;  // 0: not measured (files of baselines)
  std::string date, command;
  std::vector<Row> rows;

  // The row of this suite, or, where that has none, of the first that has one. Null: none.
  Row const* find(Problem const& problem, std::string const& kernel, std::string const& suite = "") const;
};

// Nothing when there is no such file; throws Error when it is no results file.
std::optional<Results> load_results(std::filesystem::path const& file);
void save_results(Results const& results, std::filesystem::path const& file);

// The files recorded on the H200: inlay's and the baselines'; without rows if a file is missing.
struct Recorded {
  Results ours, baselines, gemms;

  // The rows of one case, inlay's and then the baselines'. All shares are of inlay's copy limit; the baselines' files have another.
  std::vector<Row> rows(Problem const& problem) const;
};
Recorded load_recorded();

// A tutorial's own figure: another device, often another size.
struct Published {
  std::string source, device, kernel, name;
  std::optional<Problem> measured;  // nothing where the tutorial does not say
  std::optional<double> ms;
  double rate;                  // GB/s, 1 GB = 10^9 B; TFLOP/s
  std::optional<double> share;  // of cuBLAS

  // "H100 PCIe 4.829 ms (Colfax)"; the size is told when it is not 32768 x 32768.
  // "1.33 TFLOP/s, 0.115 of cuBLAS (worklog)".
  std::string sentence() const;
};
std::vector<Published> load_published();

std::filesystem::path results_dir();

}  // namespace inlay::lab
