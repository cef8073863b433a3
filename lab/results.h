// What was measured, and what others published: the files under results/.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cases.h"

namespace inlay::lab {

// One line of a table. Without the verdict "ok" there are no numbers.
struct Row {
  std::string suite = "2d";
  Case measured;
  std::string variant;
  std::string verdict;  // "ok", "rejected: ...", "FAILED: ..."
  std::optional<double> ms_median, ms_iqr, gbps, of_copy, of_peak;
  std::optional<double> host_us, host_us_bare;  // of the row `transpose`: a call; the chosen variant's launch alone

  bool ok() const { return verdict == "ok"; }
};

struct Results {
  std::string device;
  double clock_mhz = 0;  // 0: not measured (peers' files)
  std::string date, command;
  std::vector<Row> rows;

  Row const* find(Case const& c, std::string const& variant) const;
};

// Nothing when there is no such file; throws Error when it is no results file.
std::optional<Results> load_results(std::filesystem::path const& file);
void save_results(Results const& results, std::filesystem::path const& file);

// What is recorded of the H200: our own file and the peers', without rows where there is none.
struct Recorded {
  Results ours, peers;

  // Of one case, ours and then the peers'. All shares are of our copy limit: the peers' own files know another.
  std::vector<Row> rows(Case const& c) const;
};
Recorded load_recorded();

// A tutorial's own figure: another device, often another size.
struct Published {
  std::string source, device, variant, name;
  Case measured;
  std::optional<double> ms;
  double gbps;  // 1 GB = 10^9 B

  std::string sentence() const;  // "H100 PCIe 4.829 ms (Colfax)"; the size is told when it is not 32768 x 32768
};
std::vector<Published> load_published();

std::filesystem::path results_dir();

}  // namespace inlay::lab
