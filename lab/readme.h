// `inlay readme`: the tables of a Markdown file, written from the recorded results.
#pragma once
#include <filesystem>

namespace inlay::lab {

// Rewrites what stands between <!-- table:h200-N-ELEM --> and <!-- /table --> with the table of NxN elements of ELEM
// bytes. With `check_only` nothing is written. True when the file was up to date.
bool update_readme(std::filesystem::path const& file, bool check_only);

}  // namespace inlay::lab
