// Where the program writes: files and stdout. What cannot be written is found before long work begins: exit code 1.
#pragma once
#include <filesystem>
#include <string_view>

namespace inlay::lab {

// Throw Error with the reason. They leave the file as it was, or none where there was none; a pipe is not asked.
void check_writable(std::filesystem::path const& file);
void check_stdout();

// They throw Error too.
void write_file(std::filesystem::path const& file, std::string_view text);
void flush_stdout();

}  // namespace inlay::lab
