// What the requests of warps cost that walk a tile of shared memory, whatever its layout.
#pragma once
#include <inlay/banks.h>

#include <optional>
#include <string>
#include <vector>

#include "layout/layout.h"

namespace inlay::lab {

// The offsets of a layout as a matrix: rows by its first mode, columns by all the others; with one mode, a single row.
struct TileOffsets {
  std::int64_t rows, cols;
  std::vector<std::int64_t> offsets{};  // row after row

  std::int64_t operator()(std::int64_t i, std::int64_t j) const { return offsets[std::size_t(i * cols + j)]; }
};

TileOffsets tile_of(Layout const& layout);

// The lanes of a warp run along a row, down a column (what is left of them goes on in the next one, when that is
// shorter than a warp), or as `threads` says: (thread, value) -> the tile's colexicographic index.
struct WarpAccess {
  enum class Walk { row, column, threads };
  Walk walk;
  int bytes;  // of each lane
  Layout const* threads = nullptr;

  friend bool operator==(WarpAccess const&, WarpAccess const&) = default;
};

// Throws UsageError when a thread's value lies outside the tile.
void check_partition(TileOffsets const& tile, Layout const& threads);

// How the elements of a lane lie in the tile: along the rows, or down the columns; in a partition, value after value.
struct Vectors {
  std::int64_t length;
  bool down;
};
// Empty: nowhere are the elements of each lane contiguous in memory and aligned to their sum.
std::optional<Vectors> vectors_of(TileOffsets const& tile, WarpAccess const& access, int elem_bytes);

// The request that lies furthest above its ideal, and the mean over all requests.
struct Wavefronts {
  banks::Request request{};
  unsigned worst = 0, least = 0;
  double mean = 0;
};
Wavefronts wavefronts_of(TileOffsets const& tile, WarpAccess const& access, Vectors const& vectors, int elem_bytes,
                         banks::Access direction);

// Wavefronts of the worst request beyond the fewest it could need, loads or stores; stops looking at `enough`.
unsigned excess_of(TileOffsets const& tile, WarpAccess const& access, Vectors const& vectors, int elem_bytes,
                   unsigned enough);

// For a partition: wavefronts[warp][vector of values].
std::vector<std::vector<unsigned>> wavefronts_by_warp(TileOffsets const& tile, WarpAccess const& access,
                                                      Vectors const& vectors, int elem_bytes, banks::Access direction);

}  // namespace inlay::lab
