// `inlay report`: everything on one page that needs nothing else: no network, no script.
#pragma once
#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>

namespace inlay::lab {

// The page, as HTML.
std::string report_page();

// Throws Error, before the page is made, when the file cannot be written.
void write_report(std::filesystem::path const& file);

void add_report_command(CLI::App& app);

}  // namespace inlay::lab
