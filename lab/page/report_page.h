// `inlay report`: an HTML page without scripts that loads no other files.
#pragma once
#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>

namespace inlay::lab {

std::string report_page();

// Throws Error, before it computes the page, if the file cannot be written.
void write_report(std::filesystem::path const& file);

void add_report_command(CLI::App& app);

}  // namespace inlay::lab
