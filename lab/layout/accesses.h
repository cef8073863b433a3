// The wavefronts of warps that access a tile of shared memory, for any layout.
#pragma once
#include <inlay/banks.h>

#include <optional>
#include <string>
#include <vector>

#include "layout/layout.h"

namespace inlay::lab {

// The offsets of a layout as a matrix: its first mode runs down the rows, its other modes along the columns. A layout
// of one mode is a single row.
struct TileOffsets {
  std::int64_t rows, cols;
  std::vector<std::int64_t> offsets{};  // row-major

  std::int64_t operator()(std::int64_t i, std::int64_t j) const { return offsets[std::size_t(i * cols + j)]; }
};

TileOffsets tile_of(Layout const& layout);

// The lanes of a warp access consecutive vectors of a row, or of a column, and continue in the next row or column if
// there are fewer than 32 vectors; or they access the elements that the layout `threads` assigns to them.
struct WarpAccess {
  enum class Walk { row, column, threads };
  Walk walk;
  int bytes;                        // of each lane
  Layout const* threads = nullptr;  // (thread, value) -> the colexicographic index of an element of the tile

  friend bool operator==(WarpAccess const&, WarpAccess const&) = default;
};

// Throws UsageError if a value of a thread is outside the tile.
void check_partition(TileOffsets const& tile, Layout const& threads);

// The elements that one lane accesses at once: `length` elements side by side in a row, or below each other in a column
// if `down` is true; with WarpAccess::threads, consecutive values.
struct Vectors {
  std::int64_t length;
  bool down;
};
// Empty if there is a lane whose elements are not contiguous in memory, or not aligned to their size together, both
// along rows and down columns.
std::optional<Vectors> vectors_of(TileOffsets const& tile, WarpAccess const& access, int elem_bytes);

// The wavefronts of the request that is farthest above the least it can need, and the mean over all requests.
struct Wavefronts {
  banks::Request request{};
  unsigned worst = 0, least = 0;
  double mean = 0;
};
Wavefronts wavefronts_of(TileOffsets const& tile, WarpAccess const& access, Vectors const& vectors, int elem_bytes,
                         banks::Access direction);

// The most wavefronts of any request, load or store, beyond the least it can need. Stops when it reaches `enough`.
unsigned excess_of(TileOffsets const& tile, WarpAccess const& access, Vectors const& vectors, int elem_bytes,
                   unsigned enough);

// For WarpAccess::threads: the wavefronts as [warp][vector of values].
std::vector<std::vector<unsigned>> wavefronts_by_warp(TileOffsets const& tile, WarpAccess const& access,
                                                      Vectors const& vectors, int elem_bytes, banks::Access direction);

}  // namespace inlay::lab
