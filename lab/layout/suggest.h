// Searches for swizzles and paddings with which accesses to a tile have no bank conflicts.
#pragma once
#include <vector>

#include "layout/accesses.h"

namespace inlay::lab {

constexpr std::int64_t kSharedBytes = 232448;  // the most shared memory of a block: 227 KiB on Hopper

struct Suggestion {
  Layout layout;
  std::int64_t more_bytes;  // than the plain layout needs
  unsigned excess;          // wavefronts of the worst request beyond the least, summed over the accesses
};

struct Suggestions {
  bool plain_is_free = false;    // the layout without swizzle and padding has no conflicts
  std::vector<Suggestion> free;  // without conflicts; swizzles by their bits, then paddings by their bytes
  // If `free` is empty: the best swizzle or padding, if one has fewer conflicts than the plain layout.
  std::vector<Suggestion> nearest;
  std::int64_t paddings_tried = 0;         // 0: all; otherwise the search ended after so few
  WarpAccess const* impossible = nullptr;  // an access whose vectors are not contiguous in the plain layout
};

// Suggestions for the layout without its swizzle. Swizzles keep the vectors of every access contiguous and do not
// increase the cosize. Paddings lengthen one pitch, or several pitches if that takes less memory.
Suggestions suggest(Layout const& layout, std::vector<WarpAccess> const& accesses, int elem_bytes);

}  // namespace inlay::lab
