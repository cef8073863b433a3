// What `inlay bench` is asked for.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "cases.h"

namespace inlay::lab {

struct BenchOptions {
  std::string what = "transpose";  // or "copy": the copies alone
  std::vector<Case> cases;
  std::vector<std::string> variants;  // none: all, and the baselines
  int samples = 15;
  std::filesystem::path json;  // empty: no file
  std::string command;         // as it was typed, for the file
};

}  // namespace inlay::lab
