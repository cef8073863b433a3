#include "results/data_files.h"

namespace inlay::lab {
namespace {

std::filesystem::path share() { return program_folder().parent_path() / "share" / "inlay"; }

}  // namespace

std::filesystem::path program_folder() { return std::filesystem::read_symlink("/proc/self/exe").parent_path(); }

bool is_installed() { return std::filesystem::is_directory(share()); }

std::filesystem::path data_file(std::filesystem::path const& name) {
  return (is_installed() ? share() : std::filesystem::path(INLAY_SOURCE_DIR)) / name;
}

}  // namespace inlay::lab
