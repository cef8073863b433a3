// `inlay bench redistribute` and `inlay why redistribute`.
#pragma once
#include <CLI/CLI.hpp>
#include <string>

namespace inlay::lab {

void add_bench_of_redistributions(CLI::App& bench, std::string const& typed, int& status);
void add_why_of_redistributions(CLI::App& why);

}  // namespace inlay::lab
