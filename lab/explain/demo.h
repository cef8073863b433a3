// `inlay demo`: the ladders on one screen, and a page that says more.
#pragma once
#include <filesystem>
#include <string>

namespace inlay::lab {

std::string demo_screen();

// Where the report goes: the file that was asked for; without one beside the program, or, where that is installed or nobody
// may write, where it was called.
std::filesystem::path demo_report(std::string const& asked);

}  // namespace inlay::lab
