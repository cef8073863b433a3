// What `inlay bench` is asked for.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "suites.h"

namespace inlay::lab {

struct BenchOptions {
  std::string what = "transpose";  // or "copy": the copies alone
  std::string suite = "2d";        // what the rows are filed under
  std::vector<SuiteCase> cases;
  int samples = 15;
  bool host = false;           // measure the host's time per call too
  std::filesystem::path json;  // empty: no file
  std::string command;         // as it was typed, for the file
};

}  // namespace inlay::lab
