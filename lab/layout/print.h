// The output of `inlay layout`: text for a terminal of 120 columns, or JSON.
#pragma once
#include <string>
#include <vector>

#include "layout/suggest.h"

namespace inlay::lab {

// The layout, its shape, size and cosize, and the share of the memory below the cosize that is used.
std::string summary(Layout const& layout, TileOffsets const& tile, int elem_bytes);

// Grids are cut to 16 rows and 120 columns, and their titles say so, unless `whole` is true.
std::string offset_grid(TileOffsets const& tile, bool whole);
std::string bank_grid(TileOffsets const& tile, int elem_bytes, bool whole);

// The wavefronts of each access.
std::string access_table(TileOffsets const& tile, std::vector<WarpAccess> const& accesses, int elem_bytes);

// The thread that holds each element, and the wavefronts of each warp's requests.
std::string partition(TileOffsets const& tile, WarpAccess const& access, int elem_bytes, bool whole);

std::string table(Suggestions const& found, Layout const& layout, std::vector<WarpAccess> const& accesses,
                  int elem_bytes);

// One object. Offsets and banks are arrays of rows; `partition` and `suggestions` are missing if they were not
// requested.
std::string layout_json(Layout const& layout, TileOffsets const& tile, int elem_bytes,
                        std::vector<WarpAccess> const& accesses, std::optional<WarpAccess> const& partition,
                        std::optional<Suggestions> const& suggestions);

}  // namespace inlay::lab
