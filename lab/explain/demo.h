// `inlay demo`: the ladders on one screen, and a page that says more.
#pragma once
#include <string>

namespace inlay::lab {

std::string demo_screen();

// Writes the report beside the program, or, where nobody may write there, where it was called; returns its name.
std::string demo_report();

}  // namespace inlay::lab
