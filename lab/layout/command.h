// `inlay layout`: offsets, banks and bank conflicts of a layout in CuTe's notation, and layouts without conflicts.
#pragma once
#include <CLI/CLI.hpp>

namespace inlay::lab {

void add_layout_command(CLI::App& app);

}  // namespace inlay::lab
