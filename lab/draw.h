// `inlay draw`: pictures of what was recorded.
#pragma once
#include <filesystem>

#include "cases.h"

namespace inlay::lab {

// A bar for each recorded row of the case, against the copy limit: an SVG without scripts or fonts from elsewhere.
// Throws UsageError when nothing is recorded for the case or the file cannot be written.
void draw_ladder(Case const& c, std::filesystem::path const& file);

}  // namespace inlay::lab
