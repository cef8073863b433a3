// What `inlay layout` says: text for a terminal of 120 columns.
#pragma once
#include <string>
#include <vector>

#include "layout/suggest.h"

namespace inlay::lab {

// "1 row", "3 rows".
std::string counted(std::int64_t n, char const* one);

// Shape, size and cosize; how much of it is used.
std::string summary(Layout const& layout, TileOffsets const& tile, int elem_bytes);

// Whole ones, or as much of them as one likes to read; what is left out is told.
std::string offset_grid(TileOffsets const& tile, bool whole);
std::string bank_grid(TileOffsets const& tile, int elem_bytes, bool whole);

// The wavefronts of accesses of every width.
std::string access_table(TileOffsets const& tile, std::vector<WarpAccess> const& accesses, int elem_bytes);

// Which thread holds each element, and the wavefronts of each warp's requests.
std::string partition(TileOffsets const& tile, WarpAccess const& access, int elem_bytes, bool whole);

std::string table(Suggestions const& found, Layout const& layout, std::vector<WarpAccess> const& accesses,
                  int elem_bytes);

}  // namespace inlay::lab
