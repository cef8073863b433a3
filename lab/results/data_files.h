// Where the files lie that the program reads: suites, recorded results, the sources of the kernels.
#pragma once
#include <filesystem>

namespace inlay::lab {

// Whether the program stands in a folder beside share/inlay, as `cmake --install` leaves it.
bool is_installed();

// A file or folder by its name in the source tree, such as "results/published.json": in share/inlay beside an installed
// program, else in the tree that it was built from.
std::filesystem::path data_file(std::filesystem::path const& name);

std::filesystem::path program_folder();

}  // namespace inlay::lab
