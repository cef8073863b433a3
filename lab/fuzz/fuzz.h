// `inlay fuzz`: random problems, planned for some addresses and run at others. Every element of each result is
// compared.
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
  std::int64_t cases = 0;  // number of cases; 0: as many as the time allows
  bool cpu = false;        // replay on the CPU even if there is a GPU
};

// The result of one case.
struct FuzzResult {
  std::string failed;                     // the failure; empty: none
  std::string problem;                    // description of the case
  bool refused = false;                   // by an Error, as expected
  bool skipped = false;                   // too large to run here
  std::map<std::string, int> launched{};  // launches of each kernel
};

// Draws case `number` of `seed` and runs it.
using FuzzCase = std::function<FuzzResult(std::uint64_t seed, std::int64_t number)>;
FuzzCase fuzz_on_cpu(FuzzKind kind);
// Throws Error if there is no GPU.
FuzzCase fuzz_on_gpu(FuzzKind kind);

// Runs cases until the time is over or one fails, and prints a summary or the failure. Returns false if a case failed.
bool fuzz(FuzzOptions const& options);

void add_fuzz_command(CLI::App& app, int& status);

}  // namespace inlay::lab
