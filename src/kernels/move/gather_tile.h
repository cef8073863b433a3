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
#include <inlay/plan/move_tile.h>

namespace inlay::kernels {

template <class T, class Step>
struct GatherTile {
  static constexpr int E = sizeof(T), V = 16 / E, threads = Step::threads, kInFlight = 4;
  static constexpr LaunchFacts launch_facts{
      .threads = threads, .min_blocks = Step::min_blocks, .blocks_per_sm = Step::blocks_per_sm};
  struct Smem {
    alignas(128) Vector16 image[Step::bytes / 16];
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
  int pitch, grid, warps_along, lines_apart;


  static GatherTile make(Move const& move, auto const&) {
    GatherTile k{};
    Move const m = move.widened();
    make_tile(m, move.cut, threads, k.tile);
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
    bool begins;             // the lines begin here
  };
  CUTE_HOST_DEVICE Here here(unsigned block) const {
    Here h{src, dst, {}, tile.first_image, tile.first_phase, true};
    int rest = int(block);
    CUTE_NO_UNROLL
    for (int i = 0; i < tile.outers; ++i) {
      int digit;
      by_outer[i](rest, digit, rest);
      h.src += digit * tile.outer[i].src;
      h.dst += digit * tile.outer[i].dst;
      if (int const s = tile.outer[i].slot; s >= 0) {
        auto const& slot = tile.slot[s];
        int64_t const left = slot.extent - int64_t(digit) * slot.piece;
        int const all = slot.piece + tile.shear;
        CUTE_UNROLL
        for (int j = 0; j < Tile::kSlots; ++j)
          if (j == s) h.left[j] = int(left < all ? left : all);
        if (s == 0) h.begins = digit == 0;
        if (left < slot.piece) {
          int const lacks = slot.piece - int(left);
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
  CUTE_HOST_DEVICE int padded(int vector) const {
    return vector + by_skew.over(vector);
  }
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
    int const tid = int(block.thread_rank());
    char* const base = reinterpret_cast<char*>(smem.image);
    int64_t* const row_table = reinterpret_cast<int64_t*>(base + tile.row_table);
    Vector16* const line_table = reinterpret_cast<Vector16*>(base + tile.line_table);
    uint32_t* const unit_table = reinterpret_cast<uint32_t*>(base + tile.unit_table);
    Copy_Atom<On<Block, UniversalCopy<int64_t>>, int64_t> row_atom;
    Copy_Atom<On<Block, UniversalCopy<Vector16>>, Vector16> line_atom;
    Copy_Atom<On<Block, UniversalCopy<uint32_t>>, uint32_t> unit_atom;
    bool const table = tile.row_table < tile.line_table;
    if (table) {
      CUTE_NO_UNROLL
      for (int i = 0; i < tile.rows; i += threads) {
        int64_t const row = row_begin(h, i + tid);
        copy_one(row_atom, i + tid < tile.rows, &row, make_smem_ptr(row_table + (i + tid)));
      }
      block.sync();
    }
    load(block, smem, h, table ? row_table : nullptr);
    CUTE_NO_UNROLL
    for (int i = 0; i < tile.lines; i += threads) {
      Vector16 const line = line_of(h, i + tid);
      copy_one(line_atom, i + tid < tile.lines, &line, make_smem_ptr(line_table + (i + tid)));
    }
    if (tile.along_modes > 1) {
      CUTE_NO_UNROLL
      for (int i = 0; i < tile.inner + V; i += threads) {
        uint32_t const unit = unit_of(i + tid);
        copy_one(unit_atom, i + tid < tile.inner + V, &unit, make_smem_ptr(unit_table + (i + tid)));
      }
    }
    block.sync();
    // A warp's lanes: `lanes` windows of a line, the rest other lines.
    int const lanes = tile.lanes, wide = warps_along * lanes, down = lines_apart;
    int along, group;
    by_windows(group, along, tid / 32);
    int const x0 = tid % lanes + along * lanes, y0 = tid % 32 / lanes + group * (32 / lanes);
    CUTE_NO_UNROLL
    for (int x = 0; x < tile.windows; x += wide)
      gather(block, smem, h, x0 + x, y0 < down ? y0 : tile.lines, down, line_table, unit_table);
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
    if (tile.shear) end = indices;
    else if (last.slot >= 0 && indices * tile.inner < end) end = indices * tile.inner;
    if (!on) end = -(1 << 24);
    return Vector16(uint32_t(end * 16 + (phase & 15))) << 96 | Vector16(uint32_t(image)) << 64 | Vector16(uint64_t(dst));
  }
  // Unit number i along a line within the modes before the last: bytes in shared memory, and how its row begins.
  CUTE_HOST_DEVICE uint32_t unit_of(int i) const {
    int image = 0, phase = 0;
    CUTE_NO_UNROLL
    for (int k = 0; k + 1 < tile.along_modes; ++k) {
      int digit;
      by_along[k](i, digit, i);
      image += digit * tile.along[k].image;
      phase += digit * int(tile.along[k].src & 15);
    }
    Digit const& last = tile.along[tile.along_modes - 1];
    image += i * last.image, phase += i * int(last.src & 15);
    return uint32_t(image) & 0xFFFFFFF | uint32_t(phase) << 28;
  }

  template <class Block>
  CUTE_DEVICE void load(Block block, Smem& smem, Here const& h, int64_t const* row_table) const {
    int span = tile.span, first_row = 0, rows = tile.rows;
    if (tile.span_slot >= 0) {
      auto const& slot = tile.slot[tile.span_slot];
      int const lacks = slot.piece + (tile.span_slot == 0 ? tile.shear : 0) - reach(h, tile.span_slot);
      span -= lacks * tile.span_step;
    }
    bool const table = row_table != nullptr;
    if (!table && tile.row_modes && tile.row[0].slot >= 0) {
      rows = reach(h, tile.row[0].slot);
      if (tile.shear && h.begins) first_row = tile.shear;  // nothing is above
    }
    int64_t const below = (table ? 0 : first_row * int64_t(pitch)) - 15;
    int64_t const above = table ? tile.reach : rows * int64_t(pitch) - pitch + (tile.vectors * 16 + 15);
    if (h.src + below >= first && h.src + above <= last) {
      load_rows(block, smem, h, row_table, span, first_row * tile.vectors, rows * tile.vectors, true_type{});
    } else {
      load_rows(block, smem, h, row_table, span, first_row * tile.vectors, rows * tile.vectors, false_type{});
    }
  }
  // Vectors [from, to) of the tile. `inside`: all are in the source as a whole.
  template <class Block, class Inside>
  CUTE_DEVICE void load_rows(Block block, Smem& smem, Here const& h, int64_t const* row_table, int span, int from, int to,
                             Inside inside) const {
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
        if (row_table) {
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
  CUTE_DEVICE void gather(Block block, Smem& smem, Here const& h, int x, int y0, int down, Vector16 const* line_table,
                          uint32_t const* unit_table) const {
    Copy_Atom<On<Block, LoadShared<T>>, T> load_atom;
    Copy_Atom<On<Block, LoadShared<Vector16>>, Vector16> line_atom;
    Copy_Atom<On<Block, UniversalCopy<Vector16>>, Vector16> store_atom;
    char const* const image = reinterpret_cast<char const*>(smem.image);
    int where[V];
    int const align = tile.whole ? 0 : tile.shear ? 31 : 15;
    int const lowest = tile.shear && !h.begins ? -(1 << 24) : 0;
    bool fresh = true;
    CUTE_NO_UNROLL
    for (int y = y0; y - y0 < tile.lines; y += down) {
      bool const on = y < tile.lines && x < tile.windows;
      Vector16 line = 0;
      copy_one(line_atom, on, make_smem_ptr(line_table + (on ? y : 0)), &line);
      char* const out = h.dst + int64_t(uint64_t(line));
      int offset = int(uint32_t(line >> 64));
      int const mixed = int(uint32_t(line >> 96));
      int const early = int(reinterpret_cast<uintptr_t>(out) & align) / E, begin = x * V - early;
      int const end = on ? mixed >> 4 : -(1 << 24);
      if (tile.refresh) {
        places(block, h, begin, offset, mixed & 15, unit_table, where);
        offset = 0;
      } else if (fresh) {
        places(block, h, begin, 0, 0, unit_table, where);
        fresh = false;
      }
      bool const whole = begin + V <= end && begin >= lowest;
      bool const part = !whole && begin < end && begin + V > lowest;
      T e[V];
      char* const to = out + begin * E;
      if (block.any(part)) {
        CUTE_UNROLL
        for (int v = 0; v < V; ++v) {
          bool const mine = begin + v < end && begin + v >= lowest;
          copy_one(load_atom, mine, make_smem_ptr(reinterpret_cast<T const*>(image + (mine ? where[v] + offset : 0))), &e[v]);
        }
        ends(block, part, lowest, begin, end, to, joined(e));
      } else {
        CUTE_UNROLL
        for (int v = 0; v < V; ++v)
          copy_one(load_atom, whole, make_smem_ptr(reinterpret_cast<T const*>(image + (where[v] + offset))), &e[v]);
      }
      Vector16 const r = joined(e);
      copy_one(store_atom, whole, &r, make_gmem_ptr(reinterpret_cast<Vector16*>(to)));
    }
  }
  CUTE_HOST_DEVICE static Vector16 joined(T const (&e)[V]) {
    if constexpr (E == 16) {
      return e[0];
    } else if constexpr (E == 8) {
      return Vector16(e[1]) << 64 | e[0];
    } else {
      uint32_t word[4];
      CUTE_UNROLL
      for (int w = 0; w < 4; ++w)
        if constexpr (E == 4)
          word[w] = e[w];
        else if constexpr (E == 2)
          word[w] = byte_permute(e[2 * w], e[2 * w + 1], 0x5410);
        else
          word[w] = byte_permute(byte_permute(e[4 * w], e[4 * w + 1], 0x40), byte_permute(e[4 * w + 2], e[4 * w + 3], 0x40), 0x5410);
      return join(word);
    }
  }
  // Where the V units of a window are that begins with unit `begin` of a line; the line is `offset` bytes further, and its
  // rows begin `phase` bytes further.
  template <class Block>
  CUTE_DEVICE void places(Block, Here const& h, int begin, int offset, int phase, uint32_t const* unit_table,
                          int (&where)[V]) const {
    Copy_Atom<On<Block, LoadShared<uint32_t>>, uint32_t> unit_atom;
    Digit const& last = tile.along[tile.along_modes - 1];
    int const step = last.image, turn = int(last.src & 15), slip = tile.aligned ? 0 : 15;
    int at = h.image + offset, row = h.phase + phase;
    if (tile.along_modes == 1) {
      at += begin * step, row += begin * turn;
      CUTE_UNROLL
      for (int v = 0; v < V; ++v) where[v] = place(at + v * step + (row + v * turn & slip));
    } else {
      int digit, unit;
      by_inner(digit, unit, begin > 0 ? begin : 0);
      unit += begin > 0 ? 0 : begin;
      at += digit * step, row += digit * turn;
      CUTE_UNROLL
      for (int v = 0; v < V; ++v) {
        uint32_t entry = 0;
        copy_one(unit_atom, true, make_smem_ptr(unit_table + (unit + v > 0 ? unit + v : 0)), &entry);
        where[v] = place(at + (int(entry << 4) >> 4) + (row + int(entry >> 28) & slip));
      }
    }
  }
  // A window that is not whole, unit by unit: those of [lowest, end).
  template <class Block>
  CUTE_DEVICE void ends(Block, bool on, int lowest, int begin, int end, char* to, Vector16 r) const {
    Copy_Atom<On<Block, UniversalCopy<T>>, T> atom;
    CUTE_NO_UNROLL
    for (int v = 0; v < V; ++v) {
      bool const mine = on && begin + v < end && begin + v >= lowest;
      T const e = T(r);
      if constexpr (V > 1) r >>= 8 * E % 128;
      copy_one(atom, mine, &e, make_gmem_ptr(reinterpret_cast<T*>(to) + v));
    }
  }

  static Reason rejects(Move const& move) {
    Move const m = move.widened();
    if (move.cut.modes == 0) return {"nobody has cut it into tiles"};
    Tile t;
    if (Reason r = make_tile(m, move.cut, threads, t)) return r;
    if (t.shared_bytes > Step::bytes) return {"a tile of {} bytes is more than {}", {t.shared_bytes, Step::bytes}};
    if (t.windows > threads * 64) return {"a line of {} vectors is too long", {t.windows}};
    return too_many("{} tiles are more blocks than a grid holds", t.blocks(), 1, {t.blocks(), 0, 0});
  }
};

// A variant for every unit, which is wider than the element where that goes.
template <template <class> class Kernel>
struct ByUnit {
  template <class S, class F>
  static void launches(Move const& move, S const& setting, F const& f) {
    with_element(move.widened().elem_bytes, [&](auto e) { kernels::launches<Kernel<decltype(e)>>(move, setting, f); });
  }
};

}  // namespace inlay::kernels
