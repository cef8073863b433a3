// The tile of a block of copy_tiled.h: where it lies in the source, in shared memory and in the destination.
#pragma once
#include <inlay/kernels/copy/copy_tiling.h>
#include <inlay/kernels/copy/counted_modes.h>

#include <algorithm>

namespace inlay::kernels {

// Returns s as vectors, so that it goes through shared memory in accesses of 16 bytes.
template <class S>
CUTE_HOST_DEVICE auto as_vectors(S const& s) {
  static_assert(std::is_trivially_copyable_v<S> && sizeof(S) % sizeof(Vector16) == 0);
  struct {
    Vector16 v[sizeof(S) / sizeof(Vector16)];
  } vectors;
  memcpy(&vectors, &s, sizeof(S));
  return vectors;
}

template <class T, int THREADS>
struct CopyTiledGrid {
  static constexpr int E = sizeof(T), threads = THREADS;
  static constexpr int U = CopyTile::elements_per_store(E);
  static constexpr int kMaxClipped = CopyTile::kMaxClipped, kMaxModes = CopyTile::kMaxGridModes + 3 * CopyTile::kModes;

  // The first block of an SM loads kernel parameters with a long latency, about 256 bytes at a
  // time. So the parameters that every tile reads come first, and the modes follow without gaps.
  char const* src;  // the lowest byte of the first tile
  SourceRange range;
  char* dst;
  typename CopyTile::ClippedMode clipped[kMaxClipped];
  // The members of kernels::CopyTile that threads read.
  struct Tile {
    int64_t reach_bytes;
    int src_runs, run_vectors, run_bytes, run_clipped, run_clipped_bytes, src_table, dst_table, element_table;
    int run_elements, table_entries, inner_elements, first_smem_bytes, skew, run_words, passes;
    int neighbours;  // destination runs along dst_mode(0)
    int grid_modes, src_modes, run_modes, dst_modes;
    bool has_whole_words, transposes_words, is_run_in_smem;
    CUTE_HOST_DEVICE int skew_elements() const { return skew * inner_elements; }
  };
  Tile tile;
  Divisor by_vectors, by_warps, by_inner;
  // Source runs that the block loads at once; the distance to a thread's next run in shared memory and in the source,
  // in bytes.
  int runs_at_once, smem_step;
  int64_t src_step;
  int grid, log2_lanes, warps_along, runs_apart;
  // One coordinate of a block, run or element index.
  struct Digit {
    int64_t src_bytes, dst_bytes;
    Divisor extent;
    int smem_bytes, clipped, indices;
  };
  Digit digit[kMaxModes];
  CUTE_HOST_DEVICE Digit const& grid_mode(int i) const { return digit[i]; }
  CUTE_HOST_DEVICE Digit const& src_mode(int i) const { return digit[tile.grid_modes + i]; }
  CUTE_HOST_DEVICE Digit const& run_mode(int i) const { return digit[tile.grid_modes + tile.src_modes + i]; }
  CUTE_HOST_DEVICE Digit const& dst_mode(int i) const {
    return digit[tile.grid_modes + tile.src_modes + tile.run_modes + i];
  }

  void describe(Copy const& m, CopyTile const& t) {
    src = static_cast<char const*>(m.src) + t.first_src_bytes;
    range = SourceRange(m);
    dst = static_cast<char*>(m.dst);
    std::copy(t.clipped, t.clipped + kMaxClipped, clipped);
    tile = {.reach_bytes = t.reach_bytes,
            .src_runs = t.src_runs,
            .run_vectors = t.run_vectors,
            .run_bytes = t.run_bytes,
            .run_clipped = t.run_clipped,
            .run_clipped_bytes = t.run_clipped_bytes,
            .src_table = t.src_table,
            .dst_table = t.dst_table,
            .element_table = t.element_table,
            .run_elements = t.run_elements,
            .table_entries = t.table_entries,
            .inner_elements = t.inner_elements,
            .first_smem_bytes = t.first_smem_bytes,
            .skew = t.skew,
            .run_words = t.run_words,
            .passes = t.passes,
            .neighbours = t.dst_modes ? t.dst_mode[0].extent : 1,
            .grid_modes = t.grid_modes,
            .src_modes = t.src_modes,
            .run_modes = t.run_modes,
            .dst_modes = t.dst_modes,
            .has_whole_words = t.has_whole_words,
            .transposes_words = t.transposes_words,
            .is_run_in_smem = t.is_run_in_smem};
    by_vectors = {t.run_vectors}, by_inner = {t.inner_elements};
    runs_at_once = t.run_vectors < threads ? threads / t.run_vectors : 1;
    src_step = runs_at_once * t.src_mode[0].src_bytes, smem_step = runs_at_once * t.src_mode[0].smem_bytes;
    grid = int(t.blocks());
    log2_lanes = log2_of(t.lanes);
    warps_along = t.warps_along(threads), by_warps = {warps_along};
    runs_apart = t.runs_apart(threads);
    Digit* next = digit;
    for (int i = 0; i < t.grid_modes; ++i) {
      auto const& mode = t.grid_mode[i];
      *next++ = {mode.src_bytes, mode.dst_bytes, {int(mode.tiles)}, 0, mode.clipped, 1};
    }
    auto const add = [&](CopyTile::TileMode const& mode, int extent) {
      *next++ = {mode.src_bytes, mode.dst_bytes, {extent}, mode.smem_bytes, mode.clipped, mode.indices};
    };
    for (int i = 0; i < t.src_modes; ++i) add(t.src_mode[i], t.src_mode[i].extent);
    for (int i = 0; i < t.run_modes; ++i) add(t.run_mode[i], t.run_mode[i].extent);
    for (int i = 0; i < t.dst_modes; ++i)
      add(t.dst_mode[i], i == 0 && t.transposes_words ? t.first_mode_groups : t.dst_mode[i].extent);
  }
  int64_t blocks() const { return grid; }
  void relocate(auto const& at) { src = at(src), dst = at(dst), range.relocate(at); }

  // The tile of a block. One warp computes it; all threads read it from shared memory.
  struct alignas(16) BlockTile {
    int64_t src_bytes, dst_bytes;        // from `src` and `dst`
    int left[kMaxClipped];               // indices of each clipped mode from the tile's first one on
    int smem_bytes;                      // offset of the first element
    int run_bytes, first_run, src_runs;  // of a run; at most runs [first_run, src_runs) are loaded
    int flags;                           // words, not bit-fields: the compiler would move bytes
    enum Flag { kFirst = 1, kInside = 2, kRunEnds = 4 };
    // The destination runs begin with this tile; all vectors of the source runs lie inside the source; destination runs
    // may begin or end within a word.
    CUTE_HOST_DEVICE bool is_first() const { return (flags & kFirst) != 0; }
    CUTE_HOST_DEVICE bool is_inside() const { return (flags & kInside) != 0; }
    CUTE_HOST_DEVICE bool has_run_ends() const { return (flags & kRunEnds) != 0; }
  };
  // BlockTile with addresses: a parameter plus an offset is known to be a global address.
  struct Here : BlockTile {
    char const* src;
    char* dst;
  };
  CUTE_HOST_DEVICE Here here(BlockTile const& b) const { return {b, src + b.src_bytes, dst + b.dst_bytes}; }

  CUTE_HOST_DEVICE BlockTile block_tile(unsigned block) const {
    BlockTile b{0, 0, {}, tile.first_smem_bytes, tile.run_bytes, 0, tile.src_runs, 0};
    bool is_first = true, has_run_ends = !tile.has_whole_words;
    int rest = int(block);
    CUTE_NO_UNROLL
    for (int i = 0; i < tile.grid_modes; ++i) {
      int index;
      Digit const& d = grid_mode(i);
      d.extent(rest, index, rest);
      b.src_bytes += index * d.src_bytes;
      b.dst_bytes += index * d.dst_bytes;
      if (d.clipped >= 0) clip(b, d, index);
      if (d.clipped == 0) is_first = index == 0;
    }
    if (int const c = tile.run_clipped; c >= 0)
      b.run_bytes -= (clipped[c].extent + (c == 0 ? tile.skew : 0) - loaded(b, c)) * tile.run_clipped_bytes;
    if (int const c = src_mode(0).clipped; tile.src_modes == 1 && c >= 0) {
      b.src_runs = loaded(b, c);
      if (c == 0 && is_first) b.first_run = tile.skew;  // the source has nothing before the first tile
    }
    if (tile.skew && !is_first && b.left[0] >= clipped[0].extent) has_run_ends = false;  // from sector to sector
    char const* const first = src + b.src_bytes;
    bool const is_inside = first - 15 >= range.first && first + tile.reach_bytes <= range.last;
    b.flags = (is_first ? b.kFirst : 0) | (is_inside ? b.kInside : 0) | (has_run_ends ? b.kRunEnds : 0);
    return b;
  }
  // Clips b to tile number `index` along a clipped mode.
  CUTE_HOST_DEVICE void clip(BlockTile& b, Digit const& d, int index) const {
    auto const& mode = clipped[d.clipped];
    int const behind = int(d.extent.by) - 1 - index;  // tiles
    int const n = (behind < 2 ? behind : 2) * mode.extent + mode.tail, all = mode.extent + tile.skew;
    CUTE_UNROLL
    for (int j = 0; j < kMaxClipped; ++j) b.left[j] = j != d.clipped ? b.left[j] : n < all ? n : all;
    if (mode.src_bytes && n < mode.extent) {
      int const missing = mode.extent - n;
      b.src_bytes += missing * mode.src_bytes, b.smem_bytes -= missing * mode.smem_bytes;
    }
  }
  CUTE_HOST_DEVICE static int left(BlockTile const& b, int c) {  // b.left[c], without an array in local memory
    int n = 0;
    CUTE_UNROLL
    for (int j = 0; j < kMaxClipped; ++j) n = j == c ? b.left[j] : n;
    return n;
  }
  // Indices of clipped mode c that are loaded.
  CUTE_HOST_DEVICE int loaded(BlockTile const& b, int c) const {
    int const n = left(b, c), skew = c == 0 ? tile.skew : 0;
    int const all = clipped[c].extent + skew;
    return n + skew < all ? n + skew : all;
  }

  // Table entry of a source run: byte offsets in the source (-1: not loaded) and in shared memory.
  struct alignas(16) SrcRun {
    int64_t src_bytes;
    int smem_bytes, unused;
  };
  CUTE_HOST_DEVICE SrcRun src_run(BlockTile const& b, int i) const {
    int64_t from = 0;
    int at = 0;
    bool on = true;
    CUTE_NO_UNROLL
    for (int k = 0; k < tile.src_modes; ++k) {
      int index;
      Digit const& d = src_mode(k);
      d.extent(i, index, i);
      from += index * d.src_bytes;
      at += index * d.smem_bytes;
      if (d.clipped >= 0) on &= index < loaded(b, d.clipped);
    }
    return {on ? from : -1, at, 0};
  }

  // Table entry of destination runs that a lane gathers together, neighbours along dst_mode(0).
  struct alignas(16) RunGroup {
    int64_t dst_bytes;        // from the tile's first element to word 0 of the first run
    uint32_t offset, counts;  // in bits, see below

    // From the tile's first element in shared memory; a tile has less than 2^20 bytes.
    CUTE_HOST_DEVICE int smem_bytes() const { return int(offset << 12) >> 12; }
    // Words [first_word, first_word + words) of a run are whole.
    CUTE_HOST_DEVICE int first_word() const { return int(offset >> 20); }
    CUTE_HOST_DEVICE int words() const { return int(counts >> 16); }
    // Elements that precede the run in word 0; 0 for runs with one mode, whose word 0 is their first whole word.
    CUTE_HOST_DEVICE int misaligned() const { return bits(0, 2); }
    CUTE_HOST_DEVICE int count() const { return bits(2, 3); }  // runs
    // `head` elements precede the first whole word, from element `begin` of their word on; `tail` elements follow the
    // last.
    CUTE_HOST_DEVICE int begin() const { return bits(5, 2); }
    CUTE_HOST_DEVICE int head() const { return bits(7, 2); }
    CUTE_HOST_DEVICE int tail() const { return bits(9, 2); }
    // Whether all words of the run may be loaded, also those that are not stored.
    CUTE_HOST_DEVICE bool is_all_loaded() const { return bits(11, 1) != 0; }

    CUTE_HOST_DEVICE int bits(int from, int n) const { return int(counts >> from & ((1u << n) - 1)); }
  };
  CUTE_HOST_DEVICE RunGroup run_group(Here const& b, int i) const {
    Digit const& last = run_mode(tile.run_modes - 1);
    int const skewed = tile.skew_elements();
    int64_t to = -skewed * E;
    int smem_bytes = 0, count = 1, indices = last.clipped >= 0 ? left(b, last.clipped) : 0;
    CUTE_NO_UNROLL
    for (int k = 0; k < tile.dst_modes; ++k) {
      int index;
      Digit const& d = dst_mode(k);
      d.extent(i, index, i);
      if (k == 0 && tile.transposes_words) {
        index *= U;
        count = tile.neighbours - index < U ? tile.neighbours - index : U;
      }
      to += index * d.dst_bytes;
      smem_bytes += index * d.smem_bytes;
      if (d.clipped >= 0) {
        int const n = left(b, d.clipped) - index * d.indices;
        if (n < count && (k == 0 || n <= 0)) count = n;
        if (d.clipped == last.clipped) indices -= index * d.indices;
      }
    }
    if (count <= 0 || i > 0) return {};  // i > 0: an entry that rounds up the table
    int const elements = indices * tile.inner_elements;
    return clipped_group(b, last, to, smem_bytes, count,
                         last.clipped >= 0 && elements < tile.run_elements ? elements : tile.run_elements);
  }
  // The group whose runs have `end` elements, before the skew moves both ends to sectors.
  CUTE_HOST_DEVICE RunGroup clipped_group(Here const& b, Digit const& last, int64_t to, int smem_bytes, int count,
                                          int end) const {
    int const skewed = tile.skew_elements();
    int begin = 0;
    char const* const out = b.dst + to;
    int const misaligned = E < 4 ? int(reinterpret_cast<uintptr_t>(out) & 3) / E : 0;
    bool all_loaded = end == tile.run_elements && (!tile.skew || !b.is_first());
    end += skewed;
    if (skewed) {
      int const early = int(reinterpret_cast<uintptr_t>(out + skewed * E) & 31) / E;
      int const most = tile.run_elements + skewed - early;
      begin = skewed - (b.is_first() ? 0 : early);
      if (most < end) end = most;
    }
    if (end <= begin) return {};
    int const first = begin + misaligned, behind = end + misaligned;
    int const first_word = (first + U - 1) / U, words = behind / U - first_word, in_word = first % U;
    int const head = in_word ? (words < 0 ? behind - first : U - in_word) : 0, tail = words < 0 ? 0 : behind % U;
    to -= misaligned * E;
    int word0 = first_word, shift = misaligned;
    if (tile.run_modes == 1) {  // word 0 is the first whole word: runs at different offsets within words become alike
      int const elements = first_word * U - misaligned;
      all_loaded &= elements + tile.run_words * U <= tile.run_elements + skewed;
      smem_bytes += elements * last.smem_bytes, to += first_word * U * E;
      word0 = shift = 0;
    }
    return {to, (uint32_t(smem_bytes) & 0xfffff) | uint32_t(word0) << 20,
            uint32_t(shift | count << 2 | in_word << 5 | head << 7 | tail << 9 | int(all_loaded) << 11 |
                     (words < 0 ? 0 : words) << 16)};
  }

  // Table entry of element i within the modes of a run before its last mode: offset in shared memory.
  CUTE_HOST_DEVICE uint32_t element_offset(int i) const {
    int smem_bytes = 0;
    CUTE_NO_UNROLL
    for (int k = 0; k + 1 < tile.run_modes; ++k) {
      int index;
      run_mode(k).extent(i, index, i);
      smem_bytes += index * run_mode(k).smem_bytes;
    }
    return uint32_t(smem_bytes + i * run_mode(tile.run_modes - 1).smem_bytes);
  }
};

}  // namespace inlay::kernels
