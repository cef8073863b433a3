// `inlay demo`: the ladders on one screen, and a page that says more.
#pragma once
#include <string>

namespace inlay::lab {

std::string demo_screen();

// Writes the report to the file that was asked for; without one beside the program, or, where that is installed or nobody may
// write, where it was called. Returns its name.
std::string demo_report(std::string const& asked);

}  // namespace inlay::lab
