// `inlay layout`: what a layout in CuTe's notation does to the banks of shared memory, and what would do better.
#pragma once
#include <CLI/CLI.hpp>

namespace inlay::lab {

void add_layout_command(CLI::App& app);

}  // namespace inlay::lab
