// Which swizzles and paddings of a tile make accesses free of bank conflicts.
#pragma once
#include <vector>

#include "layout/accesses.h"

namespace inlay::lab {

constexpr std::int64_t kSharedBytes = 232448;  // what a block can have of shared memory (227 KiB on Hopper)

struct Suggestion {
  Layout layout;
  std::int64_t more_bytes;  // than the plain layout needs
  unsigned excess;          // wavefronts beyond the fewest, of the worst requests, summed over the accesses
};

struct Suggestions {
  bool plain_is_free = false;    // without swizzle and padding
  std::vector<Suggestion> free;  // cheapest first: swizzles by their bits, then paddings by their bytes
  std::vector<Suggestion>
      nearest;  // when none is free: the best swizzle or padding, or nothing better than the layout itself
  std::int64_t paddings_tried = 0;         // when there are more of them than were looked at; otherwise 0
  WarpAccess const* impossible = nullptr;  // its vectors are not contiguous in the plain layout
};

// Suggestions for the layout without its swizzle. A swizzle keeps the vectors of every access whole and stays below the cosize. A
// padding is of one pitch, or of several that nest where that takes less memory.
Suggestions suggest(Layout const& layout, std::vector<WarpAccess> const& accesses, int elem_bytes);

}  // namespace inlay::lab
