// What `inlay layout` says: text for a terminal of 120 columns.
#pragma once
#include <string>
#include <vector>

#include "layout_suggest.h"

namespace inlay::lab {

// Shape, size and cosize; how much of it is used.
std::string summary(Layout const& layout, Tile const& tile, int elem_bytes);

// Whole ones, or as much of them as one likes to read; what is left out is told.
std::string offset_grid(Tile const& tile, bool whole);
std::string bank_grid(Tile const& tile, int elem_bytes, bool whole);

// The wavefronts of accesses of every width.
std::string access_table(Tile const& tile, std::vector<WarpAccess> const& accesses, int elem_bytes);

// Which thread holds each element, and the wavefronts of each warp's requests.
std::string partition(Tile const& tile, WarpAccess const& access, int elem_bytes, bool whole);

std::string table(Suggestions const& found, Layout const& layout, std::vector<WarpAccess> const& accesses,
                  int elem_bytes);

}  // namespace inlay::lab
