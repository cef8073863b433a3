// The tile of a copy that goes through shared memory: what one thread block loads, where it keeps it, what it stores.
//
// A tile is a box of indices: whole modes, or pieces of long ones. The modes outside the box, and the pieces, form the grid.
//
// Source side. A *source run* is the memory from the first to the last byte that the tile needs along the fastest source modes.
// Runs are loaded as the aligned 16-byte vectors that they lie in. Each run keeps its misalignment modulo 16 bytes in shared
// memory, so vectors are copied without shifting, and the shared-memory offset of an element is linear in its indices.
//
// Destination side. A *destination run* is a contiguous sequence of elements. A lane gathers 4-byte words of a run from shared
// memory (elements of 4 bytes and more one by one) and stores them; neighbouring lanes store neighbouring words. The first and
// last bytes of a run that fill no word are stored one element at a time.
//
// Transposes, planes of a picture, batches of small matrices and permutations of twenty modes differ in these numbers alone.
// docs/01_flow.md has a picture and an example.
#pragma once
#include <inlay/planner/kernel_info.h>

#include <cstdint>

namespace inlay::planner {

struct CopyTile {
  static constexpr int kModes = Tiling::kModes, kMaxGridModes = 26, kMaxClipped = 3;
  static constexpr int kWhole = -1;  // no clipped mode

  // One digit of the block index; the first runs fastest. A grid mode steps through the tiles of a clipped mode, or through the
  // indices of a mode outside the tile.
  struct GridMode {
    std::int64_t tiles;                 // along this mode
    std::int64_t src_bytes, dst_bytes;  // from one tile to the next
    int clipped;                        // index into `clipped`, or kWhole
  };
  GridMode grid_mode[kMaxGridModes];
  int grid_modes = 0;

  // A mode that is longer than the tile. The last tile covers `tail` indices instead of `extent`; with an alignment skew that
  // may be none, or less than none.
  struct ClippedMode {
    std::int32_t extent, tail;
    // Negative source strides only: for each missing index the tile's lowest source byte moves up by `src_bytes`, and its first
    // element moves down by `smem_bytes` in shared memory.
    std::int64_t src_bytes;
    std::int32_t smem_bytes;
  };
  ClippedMode clipped[kMaxClipped];
  int num_clipped = 0;

  // A mode inside the tile.
  struct TileMode {
    std::int64_t src_bytes;  // between source runs
    std::int64_t dst_bytes;  // between elements or destination runs
    std::int32_t extent;
    std::int32_t smem_bytes;  // between elements or runs in shared memory
    int clipped;              // index into `clipped`, or kWhole
    std::int32_t indices;     // of the clipped mode for one index of this mode
  };

  // ---- Loading.
  TileMode src_mode[kModes];  // they number the source runs
  int src_modes = 0;
  std::int32_t src_runs = 1, run_vectors = 1;  // of the tile; the most vectors that a run lies in
  std::int32_t run_bytes = 0;                  // of a whole source run
  int run_clipped = kWhole;                    // the clipped mode within the run, if any: for each missing index
  std::int32_t run_clipped_bytes = 0;          // the run is shorter by these bytes
  bool is_aligned = true;                      // all source runs begin at multiples of 16 bytes
  std::int64_t reach_bytes = 0;                // from the lowest byte of a tile to the end of its last aligned vector
  std::int64_t first_src_bytes = 0;            // from the copy's source to the lowest byte of the first tile

  // ---- Gathering.
  TileMode run_mode[kModes];  // within a destination run
  TileMode dst_mode[kModes];  // they number the destination runs
  int run_modes = 0, dst_modes = 0;
  std::int32_t run_elements = 0, dst_runs = 1;  // of a destination run; of the tile
  std::int32_t run_groups = 1,
               first_mode_groups = 1;  // of runs that a lane gathers together: of the tile; of dst_mode[0]
  std::int32_t table_entries = 1;      // run_groups, rounded up to a multiple of what all threads gather at once
  std::int32_t inner_elements = 1;     // of a run for one index of its last mode
  std::int32_t first_smem_bytes = 0;   // offset of the tile's first element in shared memory
  // Alignment skew: a clipped run begins up to this many indices of its last mode early, on a sector, so that only whole
  // sectors are written. 0: runs begin where the tile begins.
  std::int32_t skew = 0;
  bool has_whole_words = true;  // destination runs begin and end at words
  bool transposes_words =
      false;  // neighbouring runs are neighbours in the source: 4-byte words are loaded and transposed
  bool is_run_in_smem =
      false;      // a destination run is contiguous in shared memory: a word is cut out of two aligned words
  int lanes = 8;  // of a warp, along a run; the other lanes work on other runs
  std::int32_t run_words = 0, passes = 0;  // the most words of a run; iterations of a warp for them

  // Shared memory, in bytes: the source runs; a table with 16 bytes for each source run, if several modes number them; a table
  // with 16 bytes for each group of destination runs; a table with 4 bytes for each element within the modes before the run's
  // last mode, if a run has several modes.
  std::int32_t src_table = 0, dst_table = 0, element_table = 0, smem_bytes = 0;

  std::int64_t blocks() const;  // at most 2^62
  constexpr int skew_elements() const { return skew * inner_elements; }
  // Elements that are stored at once: those of a 4-byte word, or one. Runs whose words are transposed are gathered in groups of
  // as many runs.
  static constexpr int elements_per_store(int elem_bytes) { return elem_bytes < 4 ? 4 / elem_bytes : 1; }
  // Words that a lane gathers before it stores them.
  static constexpr int stores_per_lane(int elem_bytes, bool transposes_words) {
    return elem_bytes == 16 || (transposes_words && elem_bytes == 1) ? 2 : 4;
  }
  // Shared-memory wavefronts of a warp that loads the first element of each of its words.
  int load_wavefronts(int elem_bytes) const;
  // Warps of a block side by side along a run; the distance between the runs, or groups of runs, of a thread.
  constexpr int warps_along(int threads) const { return passes < threads / 32 ? passes : threads / 32; }
  constexpr int runs_apart(int threads) const { return threads / 32 / warps_along(threads) * (32 / lanes); }
};

// Describes in `tile` the tile that `tiling` makes of a widened copy, for blocks of `threads` threads. The tile depends on both
// addresses modulo kPlanAlignment bytes. Rejects, with the reason: tilings whose destination runs are not contiguous, more than
// kMaxClipped clipped modes, tiles of 2^20 bytes and more. The caller compares tile.smem_bytes with the limit of its kernel.
Reason describe_tile(Copy const& widened, Tiling const& tiling, int threads, CopyTile& tile);

}  // namespace inlay::planner
