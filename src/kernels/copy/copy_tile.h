// The tile of a copy that goes through shared memory: what one thread block loads, where it keeps it, what it stores.
//
// A tile is a box of indices: whole modes, or a range of indices of long ones. The grid consists of all tiles.
//
// Source side. A *source run* is the memory from the first to the last byte that the tile needs along the fastest
// source modes, gaps included. Runs are loaded as the aligned 16-byte vectors that contain them. Each run keeps its
// misalignment modulo 16 bytes in shared memory, so vectors are copied without shifting, and the shared-memory offset
// of an element is linear in its indices.
//
// Destination side. A *destination run* is a contiguous sequence of elements. A lane gathers 4-byte words of a run from
// shared memory (one element at a time if elements have 4 bytes or more) and stores them; neighbouring lanes store
// neighbouring words. The first and last bytes of a run that fill no word are stored one element at a time.
//
// docs/01_flow.md has a picture and an example.
#pragma once
#include <inlay/model/kernel_info.h>

#include <cstdint>

namespace inlay::kernels {
using namespace model;

struct CopyTile {
  static constexpr int kModes = Tiling::kModes, kMaxGridModes = 26, kMaxClipped = 3;
  static constexpr int kWhole = -1;  // no clipped mode

  // One coordinate of the block index; the first runs fastest. A grid mode steps through the tiles of a clipped mode,
  // or through the indices of a mode outside the tile.
  struct GridMode {
    std::int64_t tiles;                 // along this mode
    std::int64_t src_bytes, dst_bytes;  // from one tile to the next
    int clipped;                        // index into `clipped`, or kWhole
  };
  GridMode grid_mode[kMaxGridModes];
  int grid_modes = 0;

  // A mode that is longer than the tile. The last tile covers `tail` indices instead of `extent`; with an alignment
  // skew `tail` may be 0 or negative.
  struct ClippedMode {
    std::int32_t extent, tail;
    // Negative source strides only: for each missing index the tile's lowest source byte moves up by `src_bytes`, and
    // its first element moves down by `smem_bytes` in shared memory.
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
  TileMode src_mode[kModes];  // the coordinates of a source run
  int src_modes = 0;
  std::int32_t src_runs = 1, run_vectors = 1;  // source runs of the tile; most vectors that contain a run
  std::int32_t run_bytes = 0;                  // of a whole source run
  int run_clipped = kWhole;                    // the clipped mode within the run, if any
  std::int32_t run_clipped_bytes = 0;          // by which the run is shorter for each missing index of that mode
  bool is_aligned = true;                      // all source runs begin at multiples of 16 bytes
  std::int64_t reach_bytes = 0;                // from the lowest byte of a tile to the end of its last aligned vector
  std::int64_t first_src_bytes = 0;            // from the copy's source to the lowest byte of the first tile

  // ---- Gathering.
  TileMode run_mode[kModes];  // within a destination run
  TileMode dst_mode[kModes];  // the coordinates of a destination run
  int run_modes = 0, dst_modes = 0;
  std::int32_t run_elements = 0, dst_runs = 1;  // elements of a destination run; destination runs of the tile
  // Groups of destination runs that a lane gathers together: in the tile; along dst_mode[0].
  std::int32_t run_groups = 1, first_mode_groups = 1;
  std::int32_t table_entries = 1;     // run_groups, rounded up to a multiple of the groups that a block gathers at once
  std::int32_t inner_elements = 1;    // of a run for one index of its last mode
  std::int32_t first_smem_bytes = 0;  // offset of the tile's first element in shared memory
  // Alignment skew: a clipped run begins up to this many indices of its last mode early, on a sector, so that only
  // whole sectors are written. 0: runs begin where the tile begins.
  std::int32_t skew = 0;
  bool has_whole_words = true;  // destination runs begin and end at words
  // Neighbouring destination runs are adjacent in the source: 4-byte words are loaded and transposed in registers.
  bool transposes_words = false;
  // A destination run is contiguous in shared memory: a word is extracted from two aligned words.
  bool is_run_in_smem = false;
  int lanes = 8;                           // of a warp, along a run; the other lanes gather other runs
  std::int32_t run_words = 0, passes = 0;  // most words of a run; iterations of a warp along a run

  // Shared memory, in bytes: the source runs; a table with 16 bytes for each source run, if several modes number them;
  // a table with 16 bytes for each group of destination runs; a table with 4 bytes for each element within the modes
  // before the run's last mode, if a run has several modes.
  std::int32_t src_table = 0, dst_table = 0, element_table = 0, smem_bytes = 0;

  std::int64_t blocks() const;  // at most 2^62
  constexpr int skew_elements() const { return skew * inner_elements; }
  // Elements of one store: those of a 4-byte word, or one. With transposes_words, also the number of runs in a group.
  static constexpr int elements_per_store(int elem_bytes) { return elem_bytes < 4 ? 4 / elem_bytes : 1; }
  // Words that a lane gathers before it stores the first.
  static constexpr int stores_per_lane(int elem_bytes, bool transposes_words) {
    return elem_bytes == 16 || (transposes_words && elem_bytes == 1) ? 2 : 4;
  }
  // Shared-memory wavefronts of a warp that loads the first element of each of its words.
  int load_wavefronts(int elem_bytes) const;
  // Warps of a block along a run, and the distance between successive groups of runs of a thread.
  constexpr int warps_along(int threads) const { return passes < threads / 32 ? passes : threads / 32; }
  constexpr int runs_apart(int threads) const { return threads / 32 / warps_along(threads) * (32 / lanes); }
};

// Describes in `tile` the tile that `tiling` makes of a widened copy, for blocks of `threads` threads. The tile depends
// on both addresses modulo kPlanAlignment bytes. Rejects, with the reason: tilings whose modes are out of range or
// whose destination runs are not contiguous, more than kMaxClipped clipped modes, tiles of 2^20 bytes and more. The
// caller compares tile.smem_bytes with the limit of its kernel.
Reason describe_tile(Copy const& widened, Tiling const& tiling, int threads, CopyTile& tile);

}  // namespace inlay::kernels
