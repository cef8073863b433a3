// The paths of the files that the program reads: suites, recorded results, the sources of the kernels.
#pragma once
#include <filesystem>

namespace inlay::lab {

// Whether there is a share/inlay beside the program's folder, as after `cmake --install`.
bool is_installed();

// The path of a file or folder, given as in the source tree: "results/published.json". An installed program has it in
// share/inlay, another one in the tree from which it was built.
std::filesystem::path data_file(std::filesystem::path const& name);

std::filesystem::path program_folder();

}  // namespace inlay::lab
