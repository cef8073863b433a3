// The parts of the command line that several commands, or bench/gemm_baselines, share.
#pragma once
#include <CLI/CLI.hpp>
#include <memory>

#include "problems/problem.h"
#include "results/bench.h"

namespace inlay::lab {

inline constexpr std::string_view kBatchFlag = "--batch";  // of copies and of GEMMs

// The flags of one problem, but those that a command treats in a way of its own.
void add_fields(CLI::App& command, std::vector<Field> const& fields, std::vector<std::string_view> const& but);
template <class C>
void add_flags(CLI::App& command, C& c, std::vector<std::string_view> const& but = {}) {
  add_fields(command, c.fields(), but);
}

// Throws UsageError for an option that was given and that has no effect on any of these rows: a flag of another kind of problem, how a
// copy is to lay its rows, levels that a step does not know. Names that are not kernels use the flags of their own kind of problem.
void refuse_ignored(CLI::App const& command, std::vector<std::string> const& names, GemmCase const& gemm);

// "H200, H100-SXM, ...", of the table.
std::string known_devices();
// By its name in any case; "here" is the GPU. Throws UsageError with the names.
Device device_named(std::string const& typed);

// `bench transpose`, `bench copy`, `bench gemm`: each runs `act` with what was asked for.
using Act = std::function<void(BenchOptions const&)>;
void add_bench_of_copies(CLI::App& bench, std::string const& typed, Act const& act);
void add_bench_of_gemms(CLI::App& bench, std::string const& typed, Act const& act);

// Parses and carries out; mistakes are told on stderr. The exit code: 0 or `status`, as the commands left it, 1 when
// something is wrong, 2 when it was asked wrongly.
int run_command(CLI::App& app, int argc, char** argv, int const& status);

}  // namespace inlay::lab
