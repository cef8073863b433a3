// How a copy is cut into tiles that go through shared memory: any layouts, any number of modes on either side.
//
// A tile is a piece of some modes, whole ones or parts of long ones; the other modes are the grid's. On the source's side it is
// `rows`: each is the memory from its first to its last byte, loaded as the aligned vectors of 16 bytes that it lies in. Rows
// are as far apart in shared memory as in the source, modulo 16 bytes: so vectors go where they belong as they are, and
// where a unit lies is a sum over its indices. On the destination's side it is `lines`: contiguous runs of units. A lane
// gathers words of a line, unit by unit, and stores them. A transpose, planes of an image, a batch of small matrices, a
// permutation of twenty modes differ in these numbers alone.
#pragma once
#include <inlay/planner/kernel_info.h>

#include <cstdint>

namespace inlay::planner {

struct CopyTile {
  static constexpr int kModes = Tiling::kModes, kOuter = 26, kSlots = 3;

  // The grid: a block's index has one digit for each, the first runs fastest. `src`, `dst`: bytes from a tile to the next.
  // slot: of the mode that is cut here, -1 for a whole index a tile.
  struct Outer {
    std::int64_t tiles, src, dst;
    int slot;
  };
  Outer outer[kOuter];
  int outers = 0;
  // A mode that is cut: the last tile may have less of it than `piece`. For each index that it lacks of a mode that runs
  // backwards, its lowest byte lies `src` bytes further, and its first unit `image` bytes earlier.
  struct Slot {
    std::int32_t piece, tail;  // of a tile; of the last one, which with a shear may lack all and more
    std::int64_t src;
    std::int32_t image;
  };
  Slot slot[kSlots];
  int slots = 0;

  struct Digit {
    std::int64_t src;  // of a row: bytes to the next
    std::int64_t dst;  // of a line: bytes to the next
    std::int32_t extent;
    std::int32_t image;  // bytes to the next in shared memory
    int slot;            // -1: not cut
    std::int32_t step;   // so many indices of the slot's mode for one of this
  };
  // Loading.
  Digit row[kModes];
  int row_modes = 0;
  std::int32_t rows = 1, vectors = 1;  // that a row lies in, at most
  std::int32_t span = 0;  // bytes of a whole row; it is shorter by span_step for each index that span_slot lacks
  int span_slot = -1;
  std::int32_t span_step = 0;
  bool aligned = true;         // all rows begin at multiples of 16
  std::int64_t reach = 0;      // bytes from the lowest one of a tile to behind its last aligned vector
  std::int64_t first_src = 0;  // bytes from the copy's source to the lowest of the first tile

  // Gathering.
  Digit along[kModes], line[kModes];
  int along_modes = 0, line_modes = 0;
  std::int32_t units = 0, lines = 1;  // of a line; of a tile
  std::int32_t groups = 1,
               line_groups = 1;  // of lines that are gathered together: of a tile, of the first mode of lines
  std::int32_t entries = 1;      // of the table of groups: as many as make whole steps of all threads
  std::int32_t inner = 1;        // units for one index of the last digit along a line
  std::int32_t first_image = 0;  // of the tile's first unit
  // Lines that are cut begin on a sector, so many indices of the last digit early at most; 0: as they lie.
  std::int32_t shear = 0;
  bool whole = true;   // lines begin and end with whole words
  bool words = false;  // neighbouring lines are neighbours in the source: read in whole words of 4 bytes
  bool runs = false;   // a line is contiguous in the source: two words make one
  int lanes = 8;       // of a warp, along a line; the others are in other lines
  std::int32_t stores = 0, turns = 0;  // words of a line, at most; rounds of a warp for them

  // Shared memory, in bytes: the image, then tables of rows (16 each, where they have several modes), of lines (16 for those
  // that are gathered together) and of the units within the modes before a line's last (4, where it has several).
  std::int32_t row_table = 0, line_table = 0, unit_table = 0, shared_bytes = 0;

  std::int64_t blocks() const;  // at most 2^62
  constexpr int sheared_units() const { return shear * inner; }
  // Units that are stored at once, words of 4 bytes or a unit; words that a lane gathers before it stores them. Lines are
  // gathered together where words are read: as many.
  static constexpr int units_of_a_store(int unit) { return unit < 4 ? 4 / unit : 1; }
  static constexpr int stores_of_a_lane(int unit, bool words) { return unit == 16 || (words && unit == 1) ? 2 : 4; }
  // Of shared memory, for a warp that gathers the first unit of its words, in units of so many bytes.
  int gathered_wavefronts(int unit) const;
  // Of a block's warps, so many lie side by side along a line; a thread's lines, or groups of them, are so many apart.
  constexpr int warps_along(int threads) const { return turns < threads / 32 ? turns : threads / 32; }
  constexpr int lines_apart(int threads) const { return threads / 32 / warps_along(threads) * (32 / lanes); }
};

// Describes in `tile` the tile that `cut` makes of a widened copy, for blocks of `threads` threads. The tile depends on the
// two addresses modulo kPlanAlignment bytes. Returns an empty Reason, or why there is no such tile.
Reason make_tile(Copy const& widened, Tiling const& tiling, int threads, CopyTile& tile);

}  // namespace inlay::planner
