// Where a block's tile of copy/gather_tile.h is: in the source, in shared memory and in the destination.
#pragma once
#include <inlay/kernels/copy/counted_modes.h>
#include <inlay/planner/copy_tiling.h>

#include <algorithm>

namespace inlay::kernels {

template <class T, int THREADS>
struct CopyTiledGrid {
  static constexpr int E = sizeof(T), threads = THREADS;
  static constexpr int U = CopyTile::units_of_a_store(E);  // that a lane stores at once, 4 bytes and more
  static constexpr int kLines = U;                         // that may be gathered together, as words
  static constexpr int kSlots = CopyTile::kSlots, kMost = CopyTile::kOuter + 3 * CopyTile::kModes;

  // A kernel's parameters are far away for the first block of a multiprocessor: each piece of them, 256 bytes presumably,
  // is waited for in turn. So what every tile has stands together, and the modes follow without gaps.
  char const* src;  // the lowest byte of the first tile
  SourceRange range;
  char* dst;
  typename CopyTile::Slot slot[kSlots];
  // Of planner::MoveTile, what threads read.
  struct Tile {
    int64_t reach;
    int rows, vectors, span, span_slot, span_step, row_table, line_table, unit_table;
    int units, entries, inner, first_image, shear, stores, turns,
        neighbours;  // the last: lines of the first mode of lines
    int outers, row_modes, along_modes, line_modes;
    bool whole, words, runs;
    CUTE_HOST_DEVICE int sheared_units() const { return shear * inner; }
  };
  Tile tile;
  Divisor by_vectors, by_warps, by_inner;
  // Rows that are loaded at once; how much further a thread's next one is in shared memory and in the source.
  int rows_on, at_on;
  int64_t from_on;
  int grid, lanes, warps_along, lines_apart;
  // An index has a digit for each mode of a group: the grid's, a row's, a line's, those that lines are counted by.
  struct Digit {
    int64_t src, dst;
    Divisor extent;
    int image, slot, step;
  };
  Digit digit[kMost];
  CUTE_HOST_DEVICE Digit const& outer(int i) const { return digit[i]; }
  CUTE_HOST_DEVICE Digit const& row(int i) const { return digit[tile.outers + i]; }
  CUTE_HOST_DEVICE Digit const& along(int i) const { return digit[tile.outers + tile.row_modes + i]; }
  CUTE_HOST_DEVICE Digit const& line(int i) const { return digit[tile.outers + tile.row_modes + tile.along_modes + i]; }

  void place(Copy const& m, CopyTile const& t) {
    src = static_cast<char const*>(m.src) + t.first_src;
    range = SourceRange(m);
    dst = static_cast<char*>(m.dst);
    std::copy(t.slot, t.slot + kSlots, slot);
    tile = {t.reach,
            t.rows,
            t.vectors,
            t.span,
            t.span_slot,
            t.span_step,
            t.row_table,
            t.line_table,
            t.unit_table,
            t.units,
            t.entries,
            t.inner,
            t.first_image,
            t.shear,
            t.stores,
            t.turns,
            t.line_modes ? t.line[0].extent : 1,
            t.outers,
            t.row_modes,
            t.along_modes,
            t.line_modes,
            t.whole,
            t.words,
            t.runs};
    by_vectors = {t.vectors}, by_inner = {t.inner};
    rows_on = t.vectors < threads ? threads / t.vectors : 1;
    from_on = rows_on * t.row[0].src, at_on = rows_on * t.row[0].image;
    grid = int(t.blocks());
    lanes = log2_of(t.lanes);
    warps_along = t.warps_along(threads), by_warps = {warps_along};
    lines_apart = t.lines_apart(threads);
    Digit* next = digit;
    for (int i = 0; i < t.outers; ++i)
      *next++ = {t.outer[i].src, t.outer[i].dst, {int(t.outer[i].tiles)}, 0, t.outer[i].slot, 1};
    auto const add = [&](CopyTile::Digit const& d, int extent) {
      *next++ = {d.src, d.dst, {extent}, d.image, d.slot, d.step};
    };
    for (int i = 0; i < t.row_modes; ++i) add(t.row[i], t.row[i].extent);
    for (int i = 0; i < t.along_modes; ++i) add(t.along[i], t.along[i].extent);
    for (int i = 0; i < t.line_modes; ++i) add(t.line[i], i == 0 && t.words ? t.line_groups : t.line[i].extent);
  }
  int64_t blocks() const { return grid; }

  // A block's tile.
  struct Here {
    char const* src;
    char* dst;
    int left[kSlots];  // indices of a mode that is cut, from the tile's first on
    int image;
    int span, first_row, rows;  // of the rows; of a first mode of rows, those that are loaded
    bool begins;                // the lines begin here
    bool inside;                // all aligned vectors that the rows lie in are the source's, as a whole
    bool ends;                  // lines may begin or end within a word
  };
  CUTE_HOST_DEVICE Here here(unsigned block) const {
    Here h{src, dst, {}, tile.first_image, tile.span, 0, tile.rows, true, true, !tile.whole};
    int rest = int(block);
    CUTE_NO_UNROLL
    for (int i = 0; i < tile.outers; ++i) {
      int index;
      Digit const& d = outer(i);
      d.extent(rest, index, rest);
      h.src += index * d.src;
      h.dst += index * d.dst;
      if (int const s = d.slot; s >= 0) {
        auto const& tiling = slot[s];
        int const behind = int(d.extent.by) - 1 - index;  // tiles
        int const n = (behind < 2 ? behind : 2) * tiling.piece + tiling.tail, all = tiling.piece + tile.shear;
        CUTE_UNROLL
        for (int j = 0; j < kSlots; ++j)
          if (j == s) h.left[j] = n < all ? n : all;
        if (s == 0) h.begins = index == 0;
        if (tiling.src && n < tiling.piece) {
          int const lacks = tiling.piece - n;
          h.src += lacks * tiling.src, h.image -= lacks * tiling.image;
        }
      }
    }
    if (int const s = tile.span_slot; s >= 0)
      h.span -= (slot[s].piece + (s == 0 ? tile.shear : 0) - reach(h, s)) * tile.span_step;
    if (int const s = row(0).slot; tile.row_modes == 1 && s >= 0) {
      h.rows = reach(h, s);
      if (s == 0 && h.begins) h.first_row = tile.shear;  // nothing is above
    }
    if (tile.shear && !h.begins && h.left[0] >= slot[0].piece) h.ends = false;  // they go from sector to sector
    h.inside = h.src - 15 >= range.first && h.src + tile.reach <= range.last;
    return h;
  }
  CUTE_HOST_DEVICE void pack(Here const& h, Vector16 (&v)[3]) const {
    v[0] = Vector16(uint64_t(h.dst - dst)) << 64 | uint64_t(h.src - src);
    v[1] = Vector16(uint32_t(h.image)) << 96 | Vector16(uint32_t(h.left[2])) << 64 |
           Vector16(uint32_t(h.left[1])) << 32 | uint32_t(h.left[0]);
    v[2] = Vector16(uint32_t(h.begins | h.inside << 1 | h.ends << 2)) << 96 | Vector16(uint32_t(h.rows)) << 64 |
           Vector16(uint32_t(h.first_row)) << 32 | uint32_t(h.span);
  }
  CUTE_HOST_DEVICE Here unpacked(Vector16 const (&v)[3]) const {
    auto const word = [&](int i) { return int(uint32_t(v[1 + i / 4] >> (i % 4 * 32))); };
    return {src + int64_t(uint64_t(v[0])),
            dst + int64_t(uint64_t(v[0] >> 64)),
            {word(0), word(1), word(2)},
            word(3),
            word(4),
            word(5),
            word(6),
            (word(7) & 1) != 0,
            (word(7) & 2) != 0,
            (word(7) & 4) != 0};
  }
  CUTE_HOST_DEVICE static int left(Here const& h, int slot) {
    int n = 0;
    CUTE_UNROLL
    for (int j = 0; j < kSlots; ++j) n = j == slot ? h.left[j] : n;
    return n;
  }
  // Indices of a mode that is cut that are loaded.
  CUTE_HOST_DEVICE int reach(Here const& h, int i) const {
    int const n = left(h, i), s = i == 0 ? tile.shear : 0;
    int const all = slot[i].piece + s;
    return n + s < all ? n + s : all;
  }
  // Where row number i begins: bytes from the tile's lowest one in the source, -1 for a row outside the matrix, and in shared
  // memory.
  CUTE_HOST_DEVICE Vector16 row_begin(Here const& h, int i) const {
    int64_t from = 0;
    int at = 0;
    bool on = true;
    CUTE_NO_UNROLL
    for (int k = 0; k < tile.row_modes; ++k) {
      int index;
      Digit const& d = row(k);
      d.extent(i, index, i);
      from += index * d.src;
      at += index * d.image;
      if (d.slot >= 0) on &= index < reach(h, d.slot);
    }
    return Vector16(uint32_t(at)) << 64 | Vector16(uint64_t(on ? from : -1));
  }

  // Some lines that are gathered together, `count` of them, of which the others follow by line(0). Words [first, first +
  // words) are whole; of number 0, `past` units come before the line (neither, of lines of one mode). `head` units lie before the first whole word, from
  // number `begin` of their word on, `tail` units behind the last.
  struct Lines {
    int64_t to;  // bytes from the tile's first unit to word 0 of the first line
    int image;   // bytes in shared memory, from the first line's
    int past, count, begin, head, tail, first, words;
    bool all;  // units of the line are loaded

    CUTE_HOST_DEVICE Vector16 packed() const {
      int const m = past | count << 2 | begin << 5 | head << 7 | tail << 9 | int(all) << 11 | words << 16;
      uint32_t const at = uint32_t(image) & 0xfffff;  // a tile is no larger than 2^20 bytes
      return Vector16(uint32_t(m)) << 96 | Vector16(at | uint32_t(first) << 20) << 64 | Vector16(uint64_t(to));
    }
    CUTE_HOST_DEVICE static Lines unpacked(Vector16 v) {
      uint32_t const m = uint32_t(v >> 96), at = uint32_t(v >> 64);
      auto const bits = [&](int from, int n) { return int(m >> from & ((1u << n) - 1)); };
      return {int64_t(uint64_t(v)), int(at << 12) >> 12, bits(0, 2),    bits(2, 3),   bits(5, 2),
              bits(7, 2),           bits(9, 2),          int(at >> 20), int(m >> 16), bits(11, 1) != 0};
    }
  };
  CUTE_HOST_DEVICE Vector16 lines_of(Here const& h, int i) const {
    Digit const& last = along(tile.along_modes - 1);
    int const sheared = tile.sheared_units();
    int64_t to = -sheared * E;
    int image = 0, count = 1, indices = last.slot >= 0 ? left(h, last.slot) : 0;
    CUTE_NO_UNROLL
    for (int k = 0; k < tile.line_modes; ++k) {
      int index;
      Digit const& d = line(k);
      d.extent(i, index, i);
      if (k == 0 && tile.words) {
        index *= kLines;
        count = tile.neighbours - index < kLines ? tile.neighbours - index : kLines;
      }
      to += index * d.dst;
      image += index * d.image;
      if (d.slot >= 0) {
        int const n = left(h, d.slot) - index * d.step;
        if (n < count && (k == 0 || n <= 0)) count = n;
        if (d.slot == last.slot) indices -= index * d.step;
      }
    }
    if (count <= 0 || i > 0) return 0;  // the table has some more
    int begin = 0, end = last.slot >= 0 && indices * tile.inner < tile.units ? indices * tile.inner : tile.units;
    char const* const out = h.dst + to;
    int const past = E < 4 ? int(reinterpret_cast<uintptr_t>(out) & 3) / E : 0;
    bool const loaded = end == tile.units && (!tile.shear || !h.begins);
    end += sheared;
    if (sheared) {  // the line goes from sector to sector
      int const early = int(reinterpret_cast<uintptr_t>(out + sheared * E) & 31) / E;
      int const most = tile.units + sheared - early;
      begin = sheared - (h.begins ? 0 : early);
      if (most < end) end = most;
    }
    if (end <= begin) return 0;
    Lines l{to - past * E, image, past, count, 0, 0, 0, 0, 0, loaded};
    int const first = begin + past, behind = end + past;
    l.first = (first + U - 1) / U;
    l.words = behind / U - l.first;
    l.begin = first % U;
    l.head = l.begin ? (l.words < 0 ? behind - first : U - l.begin) : 0;
    l.tail = l.words < 0 ? 0 : behind % U;
    if (l.words < 0) l.words = 0;
    if (tile.along_modes ==
        1) {  // from the first whole word on: then lines that begin at other places within it are alike
      int const units = l.first * U - past;
      l.all &= units + tile.stores * U <= tile.units + sheared;
      l.image += units * last.image, l.to += l.first * U * E;
      l.past = l.first = 0;
    }
    return l.packed();
  }

  // Unit number i of a line within the modes before the last: bytes from the line's first.
  CUTE_HOST_DEVICE int unit_of(int i) const {
    int image = 0;
    CUTE_NO_UNROLL
    for (int k = 0; k + 1 < tile.along_modes; ++k) {
      int index;
      along(k).extent(i, index, i);
      image += index * along(k).image;
    }
    return image + i * along(tile.along_modes - 1).image;
  }
};

}  // namespace inlay::kernels
