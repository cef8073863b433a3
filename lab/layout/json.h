// What `inlay layout` says, for programs.
#pragma once
#include <string>

#include "layout/suggest.h"

namespace inlay::lab {

// One object; offsets and banks row after row; what was not asked for is missing.
std::string layout_json(Layout const& layout, TileOffsets const& tile, int elem_bytes,
                        std::vector<WarpAccess> const& accesses, std::optional<WarpAccess> const& partition,
                        std::optional<Suggestions> const& suggestions);

}  // namespace inlay::lab
