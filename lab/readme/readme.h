// `inlay readme`: the tables of a Markdown file, written from the recorded results.
#pragma once
#include <filesystem>

namespace inlay::lab {

// Rewrites the text between each line <!-- table:h200-NAME --> and the next <!-- /table --> as the table of that name
// (readme/tables.h). With `check_only` it writes nothing. Returns true if the file was up to date.
bool update_readme(std::filesystem::path const& file, bool check_only);

}  // namespace inlay::lab
