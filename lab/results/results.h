// Measured rows, and the figures that tutorials published: the files under results/.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "problems/problem.h"

namespace inlay::lab {

// Host time per call in microseconds, as medians.
struct HostTime {
  double call_us;  // of the public function
  double bare_us;  // of as many launches of a kernel that does nothing
  int calls = 0;   // measured calls; 0: read from a file, which does not tell
};

// The error of a GEMM on one data set, against sums in fp64. e: of an element.
struct DataError {
  std::string data;                     // its name in error_data.h
  double rel_err;                       // the Frobenius norm of the error, relative to that of the result
  double largest;                       // |e| / (|A| |B|), at most
  std::optional<double> of_cublas;      // rel_err, relative to that of the row `cublas`
  std::optional<std::int64_t> refused;  // matrices that refused f16 slices; none: no kernel ran that tries them
};

// One line of a table. A row has numbers only if its check result is "ok".
struct Row {
  std::string suite;
  Problem measured;
  std::string kernel;
  std::string check_result;  // "ok", "rejected: ...", "FAILED: ..."
  bool is_baseline = false;  // what is not ours; only a failure of ours is one of the command
  std::optional<double> ms_median, ms_iqr;
  std::optional<double> rate;                     // GB/s; GEMMs: TFLOP/s
  std::optional<double> share;                    // of the copy limit; GEMMs: of the rate of cuBLAS
  std::optional<double> of_peak;                  // of the GPU's peak rate
  std::optional<double> rel_err, rel_err_cublas;  // GEMMs: the Frobenius norm of the error against fp64, relative
  std::optional<HostTime> host;                   // of the public function
  std::optional<double> predicted_ms;             // of a candidate of the planner
  std::vector<DataError> errors;                  // GEMMs with --errors
  bool sustained = false;                         // timed alone and back to back, not interleaved with the other rows
  std::optional<double> clock_mhz;                // sustained rows: the mean SM clock while it was timed

  bool ok() const { return check_result == "ok"; }
  std::string status() const { return check_result.substr(0, check_result.find(':')); }  // "ok", "rejected", "FAILED"
};

struct Results {
  std::string device;
  double clock_mhz = 0;  // 0: not measured, as in the baselines' files
  std::string date, command;
  std::vector<Row> rows;
  std::string driver, cuda, commit;  // empty in files from before they were written

  // The row of this problem and kernel in `suite`, or else the first one of any suite. Null: there is none.
  Row const* find(Problem const& problem, std::string const& kernel, std::string const& suite = "") const;
};

// Empty if there is no such file. Throws Error if it is not a results file.
std::optional<Results> load_results(std::filesystem::path const& file);
void save_results(Results const& results, std::filesystem::path const& file);

// The results recorded on the H200: transposes of inlay and of PyTorch, and GEMMs. A missing file gives no rows.
struct Recorded {
  Results ours, baselines, gemms, tensor_gemms;  // GEMMs in f32; in bf16 and f16
  Results sliced_gemms;                          // GEMMs in f32 on tensor cores: the tutorial's ladder

  // The rows of one transpose case, first inlay's, then the baselines'. Shares are of the copy limit in inlay's file.
  std::vector<Row> rows(Problem const& problem) const;
};
Recorded load_recorded();

// A figure that a tutorial published, of another device and often of another size.
struct Published {
  std::string source, device, kernel, name;
  std::optional<Problem> measured;  // empty if the tutorial does not say
  std::optional<double> ms;
  double rate;                  // GB/s, 1 GB = 10^9 B; TFLOP/s
  std::optional<double> share;  // of cuBLAS

  // "H100 PCIe 4.829 ms (Colfax)", with the size if that is not 32768 x 32768; "1.33 TFLOP/s, 0.115 of cuBLAS
  // (worklog)".
  std::string sentence() const;
};
std::vector<Published> load_published();

std::filesystem::path results_dir();

}  // namespace inlay::lab
