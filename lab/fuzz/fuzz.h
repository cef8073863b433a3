// `inlay fuzz`: random problems, planned at one address and run at others, each result compared as a whole.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <string>

namespace CLI {
class App;
}

namespace inlay::lab {

enum class FuzzKind { copy, transpose, gemm };

struct FuzzOptions {
  FuzzKind kind = FuzzKind::copy;
  double seconds = 60;
  std::uint64_t seed = 1;
  std::int64_t first = 0;  // number of the first case
  std::int64_t cases = 0;  // that are run; 0: as many as the time allows
  bool cpu = false;        // replayed on the CPU although there is a GPU
};

// What one case gave.
struct FuzzResult {
  std::string failed;                     // empty: it is right
  std::string problem;                    // what was run
  bool refused = false;                   // with a sentence
  bool skipped = false;                   // it is too large to run here
  std::map<std::string, int> launched{};  // kernels, and how often
};

// Draws case `number` of `seed` and runs it.
using FuzzCase = std::function<FuzzResult(std::uint64_t seed, std::int64_t number)>;
FuzzCase fuzz_on_cpu(FuzzKind kind);
// Throws Error where there is no GPU.
FuzzCase fuzz_on_gpu(FuzzKind kind);

// Runs cases until the time is over or one fails, and prints what happened; false when one failed.
bool fuzz(FuzzOptions const& options);

void add_fuzz_command(CLI::App& app, int& status);

}  // namespace inlay::lab
