// Family: any move, in tiles that go through shared memory (plan/move_tile.h says how a tile is described).
//
//   1 load     Threads load aligned vectors of 16 bytes, row after row, whatever the rows begin with, and store them in shared
//              memory as they are. A vector that lies in part outside the source is loaded unit by unit.
//   2 gather   A thread has one window of 16 bytes along a line of the destination, and as many lines as there are. It finds
//              out once where the window's units are, and for each line adds what the line differs by.
//   3 store    Windows lie on multiples of 16 bytes. One that is not whole is stored unit by unit.
//
// Padding: where neighbouring windows are a multiple of 32 bytes apart in shared memory, a vector of padding behind every
// such step makes it odd in vectors: 8 lanes along a line meet 8 groups of 4 banks, and 4 lines share or fill a group.
#pragma once
#include <inlay/block/load_ops.h>
#include <inlay/block/register_ops.h>
#include <inlay/kernels/parts/tile_grid.h>
#include <inlay/plan/move_cut.h>

namespace inlay::kernels {

template <class T, class Step>
struct GatherTile {
  static constexpr int E = sizeof(T), V = 16 / E, threads = Step::limits.threads,
                       kLines = MoveTile::lines_of_a_word(E, threads), kInFlight = threads > 256 ? 2 : 4;
  static constexpr LaunchFacts launch_facts{.threads = threads, .min_blocks = Step::limits.blocks};
  struct Smem {
    alignas(128) Vector16 image[Step::limits.bytes / 16];
    static void members(auto name) { name("image", &Smem::image); }
  };
  using Tile = MoveTile;
  using Digit = MoveTile::Digit;

  char const* src;           // the lowest byte of the first tile
  char const *first, *last;  // of the source
  char* dst;
  Tile tile;
  Divisor by_vectors, by_skew, by_windows, by_inner;
  Divisor by_outer[Tile::kOuter];
  Divisor by_row[Tile::kModes], by_along[Tile::kModes], by_line[Tile::kModes];
  int pitch, grid, lanes, warps_along, lines_apart, lines_at_once;

  static GatherTile make(Move const& m, auto const& setting) {
    GatherTile k{};
    make_tile(m, cut_of(m, setting.device), threads, k.tile);
    Tile const& t = k.tile;
    k.src = static_cast<char const*>(m.src) + t.first_src;
    k.first = k.last = static_cast<char const*>(m.src);
    for (int i = 0; i < m.rank; ++i)
      (m.mode[i].src_stride < 0 ? k.first : k.last) += m.mode[i].src_stride * (m.mode[i].extent - 1);
    k.last += E;
    k.dst = static_cast<char*>(m.dst);
    k.by_vectors = {t.vectors};
    k.by_skew = {t.skew ? t.skew : 1};
    if (!t.skew) k.by_skew.multiplier = 0;
    k.pitch = int(t.row[0].src);
    k.by_windows = {t.warps_along(threads)};
    for (int i = 0; i < t.outers; ++i) k.by_outer[i] = {int(t.outer[i].tiles)};
    for (int i = 0; i < t.row_modes; ++i) k.by_row[i] = {t.row[i].extent};
    for (int i = 0; i < t.along_modes; ++i) k.by_along[i] = {t.along[i].extent};
    for (int i = 0; i < t.line_modes; ++i) k.by_line[i] = {t.line[i].extent};
    k.by_inner = {t.inner};
    k.lanes = log2_of(t.lanes);
    k.lines_at_once = t.words ? kLines : 1;
    k.warps_along = t.warps_along(threads);
    k.lines_apart = t.lines_apart(threads);
    k.grid = int(t.blocks());
    return k;
  }
  int64_t blocks() const { return grid; }

  // A block's tile.
  struct Here {
    char const* src;
    char* dst;
    int left[Tile::kSlots];  // indices of a mode that is cut, from the tile's first on
    int image, phase;
    bool begins;  // the lines begin here
  };
  CUTE_HOST_DEVICE Here here(unsigned block) const {
    Here h{src, dst, {}, tile.first_image, tile.first_phase, true};
    int rest = int(block);
    CUTE_NO_UNROLL
    for (int i = 0; i < tile.outers; ++i) {
      int digit;
      by_outer[i](rest, digit, rest);
      auto const& outer = tile.outer[i];
      h.src += digit * outer.src;
      h.dst += digit * outer.dst;
      if (int const s = outer.slot; s >= 0) {
        auto const& slot = tile.slot[s];
        int const behind = int(by_outer[i].by) - 1 - digit;  // tiles
        int const n = (behind < 2 ? behind : 2) * slot.piece + slot.tail, all = slot.piece + tile.shear;
        CUTE_UNROLL
        for (int j = 0; j < Tile::kSlots; ++j)
          if (j == s) h.left[j] = n < all ? n : all;
        if (s == 0) h.begins = digit == 0;
        if (slot.src && n < slot.piece) {
          int const lacks = slot.piece - n;
          h.src += lacks * slot.src, h.image -= lacks * slot.image, h.phase -= lacks * slot.phase;
        }
      }
    }
    h.phase += int(reinterpret_cast<uintptr_t>(h.src) & 15);
    return h;
  }
  CUTE_HOST_DEVICE static int left(Here const& h, int slot) {
    int n = 0;
    CUTE_UNROLL
    for (int j = 0; j < Tile::kSlots; ++j) n = j == slot ? h.left[j] : n;
    return n;
  }
  // Shared memory: where a vector is, and a byte of one.
  CUTE_HOST_DEVICE int padded(int vector) const { return vector + by_skew.over(vector); }
  CUTE_HOST_DEVICE int slip() const { return tile.aligned ? 0 : 15; }
  CUTE_HOST_DEVICE int place(int byte) const { return padded(byte >> 4) * 16 + (byte & 15); }

  // Shared memory: the image, then tables of what is the same for all threads.
  struct Line {
    int64_t dst;  // bytes from the tile's first unit
    int image;
    int end;  // units of it that are in the matrix, and how its rows begin beside the first line's: end * 16 + phase
  };
  static_assert(sizeof(Line) == 16);

  template <class Block>
  CUTE_DEVICE void operator()(Block block, Smem& smem) const {
    Here const h = here(block.group_index());
    int const tid = int(block.thread_rank()), warp = tid / 32 * 32;
    char* const base = reinterpret_cast<char*>(smem.image);
    int64_t* const row_table = reinterpret_cast<int64_t*>(base + tile.row_table);
    Vector16* const line_table = reinterpret_cast<Vector16*>(base + tile.line_table);
    uint32_t* const unit_table = reinterpret_cast<uint32_t*>(base + tile.unit_table);
    Copy_Atom<On<Block, UniversalCopy<int64_t>>, int64_t> row_atom;
    Copy_Atom<On<Block, UniversalCopy<Vector16>>, Vector16> line_atom;
    Copy_Atom<On<Block, UniversalCopy<uint32_t>>, uint32_t> unit_atom;
    if (tile.row_table < tile.line_table) {
      CUTE_NO_UNROLL
      for (int i = 0; i + warp < tile.rows; i += threads) {
        int64_t const row = row_begin(h, i + tid);
        copy_one(row_atom, i + tid < tile.rows, &row, make_smem_ptr(row_table + (i + tid)));
      }
      block.sync();
      load(block, smem, h, row_table, true_type{});
    } else {
      load(block, smem, h, row_table, false_type{});
    }
    CUTE_NO_UNROLL
    for (int i = 0; i + warp < tile.lines; i += threads) {
      Vector16 const line = line_of(h, i + tid);
      copy_one(line_atom, i + tid < tile.lines, &line, make_smem_ptr(line_table + (i + tid)));
    }
    if (tile.along_modes > 1) {
      CUTE_NO_UNROLL
      for (int i = 0; i + warp < tile.inner + V; i += threads) {
        uint32_t const unit = unit_of(h, i + tid);
        copy_one(unit_atom, i + tid < tile.inner + V, &unit, make_smem_ptr(unit_table + (i + tid)));
      }
    }
    block.sync();
    // A warp's lanes: 2^lanes windows of a line, the rest other lines.
    int along, group;
    by_windows(group, along, tid / 32);
    int const lane = tid % 32, x0 = (lane & ((1 << lanes) - 1)) + (along << lanes),
              y0 = (lane >> lanes) + (group << (5 - lanes));
    CUTE_NO_UNROLL
    for (int x = 0; x < tile.windows; x += warps_along << lanes)
      gather(block, smem, h, x0 + x, y0 < lines_apart ? y0 : tile.lines / lines_at_once + 1, line_table, unit_table);
    Digit const& last = tile.along[tile.along_modes - 1];
    bool const short_line = last.slot >= 0 && left(h, last.slot) < tile.slot[last.slot].piece;
    bool const inside = tile.shear ? !h.begins && left(h, 0) > tile.windows * V : tile.whole && tile.units % V == 0;
    if (!inside || (short_line && !tile.shear)) ends(block, smem, h, line_table, unit_table);
  }

  // Where row number i begins, from the tile's lowest byte on; of a row outside the matrix -1.
  CUTE_HOST_DEVICE int64_t row_begin(Here const& h, int i) const {
    int64_t at = 0;
    bool on = true;
    CUTE_NO_UNROLL
    for (int k = 0; k < tile.row_modes; ++k) {
      int digit;
      by_row[k](i, digit, i);
      at += digit * tile.row[k].src;
      if (tile.row[k].slot >= 0) on &= digit < reach(h, tile.row[k].slot);
    }
    return on ? at : -1;
  }
  CUTE_HOST_DEVICE Vector16 line_of(Here const& h, int i) const {
    int64_t dst = 0;
    int image = 0, phase = 0;
    bool on = true;
    Digit const& last = tile.along[tile.along_modes - 1];
    int indices = last.slot >= 0 ? left(h, last.slot) : 0;
    CUTE_NO_UNROLL
    for (int k = 0; k < tile.line_modes; ++k) {
      int digit;
      by_line[k](i, digit, i);
      Digit const& d = tile.line[k];
      dst += digit * d.dst;
      image += digit * d.image;
      phase += int(digit * d.src);
      if (d.slot >= 0) {
        on &= digit * d.step < left(h, d.slot);
        if (d.slot == last.slot) indices -= digit * d.step;
      }
    }
    int end = tile.units;
    if (tile.shear)
      end = indices;
    else if (last.slot >= 0 && indices * tile.inner < end)
      end = indices * tile.inner;
    if (!on) end = -(1 << 24);
    return Vector16(uint32_t(end * 16 + (phase & 15))) << 96 | Vector16(uint32_t(image)) << 64 |
           Vector16(uint64_t(dst));
  }
  // Unit number i along a line within the modes before the last: bytes in shared memory, and how its row begins.
  CUTE_HOST_DEVICE uint32_t unit_of(Here const& h, int i) const {
    int image = 0, phase = 0;
    CUTE_NO_UNROLL
    for (int k = 0; k + 1 < tile.along_modes; ++k) {
      int digit;
      by_along[k](i, digit, i);
      image += digit * tile.along[k].image;
      phase += digit * int(tile.along[k].src & 15);
    }
    Digit const& last = tile.along[tile.along_modes - 1];
    if (tile.placed) return uint32_t(place(h.image + image + (h.phase + phase & slip())) + i * last.image);
    image += i * last.image, phase += i * int(last.src & 15);
    return uint32_t(image) & 0xFFFFFFF | uint32_t(phase) << 28;
  }

  template <class Block, class Table>
  CUTE_DEVICE void load(Block block, Smem& smem, Here const& h, int64_t const* row_table, Table table) const {
    int span = tile.span, first_row = 0, rows = tile.rows;
    if (tile.span_slot >= 0) {
      auto const& slot = tile.slot[tile.span_slot];
      int const lacks = slot.piece + (tile.span_slot == 0 ? tile.shear : 0) - reach(h, tile.span_slot);
      span -= lacks * tile.span_step;
    }
    if (!Table::value && tile.row_modes && tile.row[0].slot >= 0) {
      rows = reach(h, tile.row[0].slot);
      if (tile.shear && h.begins && tile.row[0].slot == 0) first_row = tile.shear;  // nothing is above
    }
    int const from = first_row * tile.vectors, to = rows * tile.vectors;
    if (inside(h, first_row, rows))
      load_rows(block, smem, h, row_table, span, from, to, table, true_type{});
    else
      load_rows(block, smem, h, row_table, span, from, to, table, false_type{});
  }
  // Whether all vectors of these rows are in the source as a whole.
  CUTE_HOST_DEVICE bool inside(Here const& h, int first_row, int rows) const {
    bool const table = tile.row_table < tile.line_table;
    char const* const low = h.src - 15 + (table ? 0 : int64_t(first_row) * pitch);
    char const* const high = h.src + (table ? tile.reach : int64_t(rows - 1) * pitch + (tile.vectors * 16 + 15));
    return low >= first && high <= last;
  }
  // Vectors [from, to) of the tile. `inside`: all are in the source as a whole.
  template <class Block, class Table, class Inside>
  CUTE_DEVICE void load_rows(Block block, Smem& smem, Here const& h, int64_t const* row_table, int span, int from,
                             int to, Table, Inside) const {
    Copy_Atom<On<Block, LoadEvictLast<Vector16>>, Vector16> load_atom;
    Copy_Atom<On<Block, UniversalCopy<Vector16>>, Vector16> store_atom;
    Copy_Atom<On<Block, LoadShared<int64_t>>, int64_t> row_atom;
    constexpr int kAtOnce = Inside::value ? kInFlight : 1;
    int const tid = int(block.thread_rank());
    CUTE_NO_UNROLL
    for (int i0 = from; i0 < to; i0 += kAtOnce * threads) {
      Vector16 r[kAtOnce];
      bool on[kAtOnce];
      CUTE_UNROLL
      for (int j = 0; j < kAtOnce; ++j) {
        int const i = i0 + j * threads + tid;
        int row, v;
        by_vectors(row, v, i);
        on[j] = i < to;
        char const* p = h.src;
        if constexpr (Table::value) {
          int64_t begin = 0;
          copy_one(row_atom, on[j], make_smem_ptr(row_table + (on[j] ? row : 0)), &begin);
          on[j] = on[j] && begin >= 0;
          p += begin;
        } else {
          p += int64_t(row) * pitch;
        }
        int const along = v * 16 - int(reinterpret_cast<uintptr_t>(p) & 15);
        on[j] = on[j] && along < span;
        p += along;
        bool whole = on[j];
        if constexpr (!Inside::value) {
          on[j] = on[j] && p < last && p + 16 > first;
          whole = on[j] && p >= first && p + 16 <= last;
        }
        copy_one(load_atom, whole, make_gmem_ptr(reinterpret_cast<Vector16 const*>(p)), &r[j]);
        if constexpr (!Inside::value)
          if (block.any(on[j] && !whole)) pieces(block, on[j] && !whole, p, r[j]);
      }
      CUTE_UNROLL
      for (int j = 0; j < kAtOnce; ++j) {
        int const i = i0 + j * threads + tid;
        copy_one(store_atom, on[j], &r[j], make_smem_ptr(smem.image + (on[j] ? padded(i) : 0)));
      }
    }
  }
  // Indices of a mode that is cut that are loaded.
  CUTE_HOST_DEVICE int reach(Here const& h, int slot) const {
    int const n = left(h, slot), s = slot == 0 ? tile.shear : 0;
    int const all = tile.slot[slot].piece + s;
    return n + s < all ? n + s : all;
  }
  // A vector that lies in part outside the source: its units that do not.
  template <class Block>
  CUTE_DEVICE void pieces(Block, bool on, char const* from, Vector16& r) const {
    Copy_Atom<On<Block, UniversalCopy<T>>, T> atom;
    if (on) r = 0;
    CUTE_NO_UNROLL
    for (int i = V - 1; i >= 0; --i) {
      char const* const p = from + i * E;
      T e{};
      copy_one(atom, on && p >= first && p < last, make_gmem_ptr(reinterpret_cast<T const*>(p)), &e);
      if constexpr (V > 1)
        if (on) r = r << 8 * E % 128 | Vector16(e);
    }
  }

  // Window number x of all lines from y0 on.
  template <class Block>
  CUTE_DEVICE void gather(Block block, Smem& smem, Here const& h, int x, int y0, Vector16 const* line_table,
                          uint32_t const* unit_table) const {
    Copy_Atom<On<Block, LoadShared<T>>, T> load_atom;
    Copy_Atom<On<Block, LoadShared<Vector16>>, Vector16> line_atom;
    Copy_Atom<On<Block, UniversalCopy<Vector16>>, Vector16> store_atom;
    Copy_Atom<On<Block, LoadShared<uint32_t>>, uint32_t> word_atom;
    char const* const image = reinterpret_cast<char const*>(smem.image);
    int const align = tile.whole ? 0 : tile.shear ? 31 : 15, lines = x < tile.windows ? tile.lines : 0;
    int const lowest = tile.shear && !h.begins ? -(1 << 24) : 0;
    char* out = h.dst;
    int offset = 0, begin = 0, end = 0, phase = 0;
    auto const line = [&](int y) {
      Vector16 r = 0;
      bool const on = y < lines;
      copy_one(line_atom, on, make_smem_ptr(line_table + (on ? y : 0)), &r);
      out = h.dst + int64_t(uint64_t(r));
      offset = int(uint32_t(r >> 64)), phase = int(uint32_t(r >> 96)) & 15;
      end = on ? int(uint32_t(r >> 96)) >> 4 : -(1 << 24);
    };
    auto const turn = [&] { begin = x * V - int(reinterpret_cast<uintptr_t>(out) & align) / E; };
    int where[V];
    line(y0 * lines_at_once);
    turn();
    if (!tile.refresh) places(block, h, begin, 0, 0, unit_table, where);
    CUTE_NO_UNROLL
    for (int y = y0 * lines_at_once;;) {
      if (tile.refresh || tile.turns) {
        turn();
        places(block, h, begin, tile.refresh ? offset : 0, tile.refresh ? phase : 0, unit_table, where);
        if (tile.refresh) offset = 0;
      }
      bool const whole = begin + V <= end && begin >= lowest;
      char* to = out + begin * E;
      if (kLines > 1 && tile.words) {
        // A word has a unit of each of kLines lines; k x k of them are turned in registers.
        uint32_t word[V];
        CUTE_UNROLL
        for (int v = 0; v < V; ++v)
          copy_one(word_atom, whole, make_smem_ptr(reinterpret_cast<uint32_t const*>(image + (where[v] + offset))),
                   &word[v]);
        CUTE_UNROLL
        for (int v = 0; v < V; v += kLines) {
          uint32_t square[kLines];
          CUTE_UNROLL
          for (int i = 0; i < kLines; ++i) square[i] = word[v + i];
          transpose_words(square);
          CUTE_UNROLL
          for (int i = 0; i < kLines; ++i) word[v + i] = square[i];
        }
        CUTE_UNROLL
        for (int i = 0; i < kLines; ++i) {
          uint32_t const four[4] = {word[i], word[kLines + i], word[2 * kLines + i], word[3 * kLines + i]};
          Vector16 const r = join(four);
          copy_one(store_atom, whole, &r, make_gmem_ptr(reinterpret_cast<Vector16*>(to)));
          to += tile.line[0].dst;
        }
      } else {
        T e[V];
        CUTE_UNROLL
        for (int v = 0; v < V; ++v)
          copy_one(load_atom, whole, make_smem_ptr(reinterpret_cast<T const*>(image + (where[v] + offset))), &e[v]);
        Vector16 const r = joined(e);
        copy_one(store_atom, whole, &r, make_gmem_ptr(reinterpret_cast<Vector16*>(to)));
      }
      y += lines_apart * lines_at_once;
      if (y - y0 * lines_at_once >= tile.lines) break;
      line(y);
    }
  }
  // The units before a line's first whole window and behind its last, a thread each: at most 2 V for a line.
  template <class Block>
  CUTE_DEVICE void ends(Block block, Smem& smem, Here const& h, Vector16 const* line_table,
                        uint32_t const* unit_table) const {
    Copy_Atom<On<Block, LoadShared<T>>, T> load_atom;
    Copy_Atom<On<Block, LoadShared<Vector16>>, Vector16> line_atom;
    Copy_Atom<On<Block, UniversalCopy<T>>, T> store_atom;
    char const* const image = reinterpret_cast<char const*>(smem.image);
    int const align = tile.whole ? 0 : tile.shear ? 31 : 15, all = tile.lines * 2 * V, tid = int(block.thread_rank());
    CUTE_NO_UNROLL
    for (int i = 0; i < all; i += threads) {
      int const y = (i + tid) / (2 * V), slot = (i + tid) % (2 * V);
      Vector16 r = 0;
      copy_one(line_atom, y < tile.lines, make_smem_ptr(line_table + (y < tile.lines ? y : 0)), &r);
      char* const out = h.dst + int64_t(uint64_t(r));
      int const mixed = int(uint32_t(r >> 96)), end = y < tile.lines ? mixed >> 4 : -(1 << 24);
      int const begin = int(reinterpret_cast<uintptr_t>(out) & align) / E, early = begin % V;
      int const head = tile.shear && !h.begins ? -begin : early ? V - early : 0;  // whole windows begin here
      int const tail = end > head ? head + (end - head) / V * V : head;           // and end here
      int const unit = slot < V ? slot : tail + slot - V;
      bool const ours = !tile.shear || end <= tile.windows * V - begin;  // else the line goes on in the next tile
      bool const on = slot < V ? unit < head && unit < end : ours && unit < end;
      T e{};
      int const at = on ? unit_place(block, h, unit, int(uint32_t(r >> 64)), mixed & 15, unit_table) : 0;
      copy_one(load_atom, on, make_smem_ptr(reinterpret_cast<T const*>(image + at)), &e);
      copy_one(store_atom, on, &e, make_gmem_ptr(reinterpret_cast<T*>(out) + unit));
    }
  }
  // Where unit number i of a line is that is `offset` bytes further and whose rows begin `phase` bytes further.
  template <class Block>
  CUTE_DEVICE int unit_place(Block, Here const& h, int i, int offset, int phase, uint32_t const* unit_table) const {
    Copy_Atom<On<Block, LoadShared<uint32_t>>, uint32_t> unit_atom;
    Digit const& last = tile.along[tile.along_modes - 1];
    int at = h.image + (tile.refresh ? offset : 0), row = h.phase + (tile.refresh ? phase : 0), digit = i;
    int const more = tile.refresh ? 0 : offset;
    if (tile.along_modes > 1) {
      int unit;
      uint32_t entry = 0;
      by_inner(digit, unit, i);
      copy_one(unit_atom, true, make_smem_ptr(unit_table + unit), &entry);
      if (tile.placed) return int(entry) + digit * last.image + more;
      at += int(entry << 4) >> 4, row += int(entry >> 28);
    }
    at += digit * last.image, row += digit * int(last.src & 15);
    return place(at + (row & slip())) + more;
  }
  // Where the V units of a window are that begins with unit `begin` of a line; the line is `offset` bytes further, and its
  // rows begin `phase` bytes further.
  template <class Block>
  CUTE_DEVICE void places(Block, Here const& h, int begin, int offset, int phase, uint32_t const* unit_table,
                          int (&where)[V]) const {
    Copy_Atom<On<Block, LoadShared<uint32_t>>, uint32_t> unit_atom;
    Digit const& last = tile.along[tile.along_modes - 1];
    int const step = last.image, turn = int(last.src & 15);
    int at = h.image + offset, row = h.phase + phase;
    if (tile.along_modes == 1) {
      at += begin * step, row += begin * turn;
      if (tile.even) {
        int const first = place(at);
        CUTE_UNROLL
        for (int v = 0; v < V; ++v) where[v] = first + v * step;
      } else {
        CUTE_UNROLL
        for (int v = 0; v < V; ++v) where[v] = place(at + v * step + (row + v * turn & slip()));
      }
      return;
    }
    int digit, unit;
    by_inner(digit, unit, begin > 0 ? begin : 0);
    unit += begin > 0 ? 0 : begin;
    if (tile.placed && !tile.refresh) {
      CUTE_UNROLL
      for (int v = 0; v < V; ++v) {
        uint32_t entry = 0;
        copy_one(unit_atom, true, make_smem_ptr(unit_table + (unit + v > 0 ? unit + v : 0)), &entry);
        where[v] = int(entry) + digit * step;
      }
      return;
    }
    at += digit * step, row += digit * turn;
    CUTE_UNROLL
    for (int v = 0; v < V; ++v) {
      uint32_t entry = 0;
      copy_one(unit_atom, true, make_smem_ptr(unit_table + (unit + v > 0 ? unit + v : 0)), &entry);
      where[v] = place(at + (int(entry << 4) >> 4) + (row + int(entry >> 28) & slip()));
    }
  }
  // Of a widened move. One that nobody has cut is cut as the model would.
  static Cut cut_of(Move const& m, Device const& device) {
    return m.cut.modes ? m.cut : best_cut(m, limits, device).cut;
  }
  static constexpr TileLimits limits = Step::limits;

  static double seconds(Move const& m, Device const& device) {
    Tile t;
    make_tile(m, cut_of(m, device), threads, t);
    return seconds_of(work_of(m, t, limits), device);
  }
  static Reason rejects(Move const& m, Device const& device) {
    Cut const cut = cut_of(m, device);
    if (cut.modes == 0)
      return {"no tile of {} bytes holds a piece of it that is contiguous in the destination", {Step::limits.bytes}};
    Tile t;
    if (Reason r = make_tile(m, cut, threads, t)) return r;
    if (t.shared_bytes > Step::limits.bytes)
      return {"a tile of {} bytes is more than {}", {t.shared_bytes, Step::limits.bytes}};
    for (int i = 0; i < t.outers; ++i)
      if (t.outer[i].tiles > INT32_MAX)
        return {
            "{} tiles along a mode are more than a grid holds", {t.outer[i].tiles}, t.outer[i].tiles / INT32_MAX + 1};
    return too_many("{} tiles are more blocks than a grid holds", t.blocks(), 1, {t.blocks(), 0, 0});
  }
};

}  // namespace inlay::kernels
