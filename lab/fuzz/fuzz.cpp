#include "fuzz/fuzz.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <memory>

#include "measure/gpu.h"
#include "results/output.h"
#include "results/progress.h"

namespace inlay::lab {
namespace {

constexpr char const* name_of(FuzzKind kind) {
  return kind == FuzzKind::copy ? "copy" : kind == FuzzKind::transpose ? "transpose" : "gemm";
}

}  // namespace

bool fuzz(FuzzOptions const& options) {
  std::string const missing = options.cpu ? "as asked" : why_no_gpu();
  bool const on_gpu = missing.empty();
  fmt::print("fuzz {}, seed {}, {}\n", name_of(options.kind), options.seed,
             on_gpu ? "on the GPU" : fmt::format("replayed on the CPU ({})", missing));
  flush_stdout();
  FuzzCase const run = on_gpu ? fuzz_on_gpu(options.kind) : fuzz_on_cpu(options.kind);
  std::map<std::string, int> launched;
  std::int64_t refused = 0, skipped = 0, number = options.first;
  auto const start = std::chrono::steady_clock::now();
  auto const seconds = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); };
  auto const more = [&] {
    return options.cases ? number < options.first + options.cases : seconds() < options.seconds;
  };
  Progress progress(std::size_t(options.cases));
  for (; more(); ++number) {
    progress.next(options.cases ? fmt::format("case {}", number)
                                : fmt::format("case {}, {:.0f} s left", number, options.seconds - seconds()));
    FuzzResult const result = run(options.seed, number);
    if (!result.failed.empty()) {
      progress.erase();
      fmt::print("FAILED: case {}: {}\n  {}\n  again: inlay fuzz {} --seed {} --first {} --cases 1{}\n", number,
                 result.failed, result.problem, name_of(options.kind), options.seed, number, on_gpu ? "" : " --cpu");
      return false;
    }
    refused += result.refused, skipped += result.skipped;
    for (auto const& [kernel, times] : result.launched) launched[kernel] += times;
  }
  progress.erase();
  fmt::print("{} cases in {:.1f} s: all right; {} refused with a sentence, {} too large to run here\n",
             number - options.first, seconds(), refused, skipped);
  for (auto const& [kernel, times] : launched) fmt::print("  {:<28}{:>9} launches\n", kernel, times);
  return true;
}

void add_fuzz_command(CLI::App& app, int& status) {
  auto* const command =
      app.add_subcommand("fuzz", "random problems, planned at one address and run at others, compared as a whole");
  command->require_subcommand(1);
  for (FuzzKind kind : {FuzzKind::copy, FuzzKind::transpose, FuzzKind::gemm}) {
    auto const options = std::make_shared<FuzzOptions>();
    options->kind = kind;
    auto* const one = command->add_subcommand(name_of(kind), fmt::format("of random {} problems", name_of(kind)));
    one->add_option("--seconds", options->seconds, "how long")->capture_default_str()->check(CLI::PositiveNumber);
    one->add_option("--seed", options->seed, "cases follow from the seed and their number alone")
        ->capture_default_str();
    one->add_option("--first", options->first, "number of the first case")
        ->capture_default_str()
        ->check(CLI::NonNegativeNumber);
    one->add_option("--cases", options->cases, "how many, instead of --seconds")->check(CLI::PositiveNumber);
    one->add_flag("--cpu", options->cpu, "replay on the CPU although there is a GPU");
    one->callback([options, &status] { status = fuzz(*options) ? 0 : 1; });
  }
}

}  // namespace inlay::lab
