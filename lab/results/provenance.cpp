#include "results/provenance.h"

#include <cuda_runtime_api.h>
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <memory>
#include <regex>

#include "measure/gpu.h"

namespace inlay::lab {
namespace {

std::string driver() {
  std::ifstream in("/proc/driver/nvidia/version");
  std::string line;
  std::getline(in, line);
  std::smatch found;
  return std::regex_search(line, found, std::regex("\\d+\\.[\\d.]+")) ? found.str() : "unknown";
}

std::string commit() {
  if (char const* const given = std::getenv("INLAY_COMMIT"); given && *given) return given;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> const git(
      popen("git -C '" INLAY_SOURCE_DIR "' describe --always --dirty --abbrev=12 --exclude='*' 2>/dev/null", "r"),
      pclose);
  char text[64]{};
  if (!git || !std::fgets(text, sizeof text, git.get())) return "unknown";
  std::string const line = text;
  return line.substr(0, line.find('\n'));
}

}  // namespace

Provenance provenance(std::string const& command) {
  return {gpu_name(),
          driver(),
          fmt::format("{}.{}", CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10),
          commit(),
          fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr))),
          command};
}

}  // namespace inlay::lab
