// `inlay draw`
#pragma once
#include <CLI/CLI.hpp>

namespace inlay::lab {

void add_draw_command(CLI::App& app);

}  // namespace inlay::lab
