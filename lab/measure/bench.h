// What `inlay bench` is asked for.
#pragma once
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "problems/suites.h"

namespace inlay::lab {

struct GemmContender;

struct BenchOptions {
  std::vector<SuiteCase> cases;
  bool copies_alone = false;  // of moves: no transposes
  int samples = 15;
  bool host = false;           // measure the host's time per call too
  std::filesystem::path json;  // empty: no file
  std::string command;         // as it was typed, for the file
  // Others' products, for the same table; null: none.
  std::function<std::vector<GemmContender>(GemmCase const&)> peers;
};

}  // namespace inlay::lab
