// The parts of the command line that several commands, or bench/gemm_peers, share.
#pragma once
#include <CLI/CLI.hpp>
#include <memory>

#include "measure/bench.h"
#include "problems/problems.h"

namespace inlay::lab {

// Flags for one problem; each command adds those of the batch, the element size, the layout itself.
void add_shape(CLI::App& command, Case& c);
void add_shape(CLI::App& command, GemmCase& c);
void add_batch(CLI::App& command, std::int64_t& batch);
CLI::Option* add_layout(CLI::App& command, GemmCase& c);

// `bench transpose`, `bench copy`, `bench gemm`: each runs `act` with what was asked for.
using Act = std::function<void(BenchOptions const&)>;
void add_bench_of_moves(CLI::App& bench, char const* what, std::string const& typed, Act const& act);
void add_bench_of_products(CLI::App& bench, std::string const& typed, Act const& act);

// Parses and carries out; mistakes are told on stderr. The exit code: 0 or `status`, as the commands left it, 1 when
// something is wrong, 2 when it was asked wrongly.
int run_command(CLI::App& app, int argc, char** argv, int const& status);

}  // namespace inlay::lab
