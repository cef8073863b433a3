// Writes files and stdout. Commands check before long work that they can write; if not, they end with exit code 1.
#pragma once
#include <filesystem>
#include <string_view>

namespace inlay::lab {

// Throw Error with the reason. The file is left unchanged, or absent if it was. A pipe is not checked.
void check_writable(std::filesystem::path const& file);
void check_stdout();

// Throw Error if writing fails.
void write_file(std::filesystem::path const& file, std::string_view text);
void flush_stdout();

}  // namespace inlay::lab
