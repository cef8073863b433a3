// Family: any move, in tiles that go through shared memory (plan/move_tile.h says how a tile is described).
//
//   1 load     row        . . . . a a a a|a a a a b b b b|b b b b . .     Threads load aligned vectors of 16 bytes, and store
//              image      a a a a a a a a|b b b b b b b b|                what they hold of the row: every row begins a vector
//                                                                         there. Rows that begin anywhere take two loads.
//   2 gather   lane       0 0 0 0 0 0 0 0|1 1 1 1 1 1 1 1|2 2 2 2 2 . .   A lane gathers 16 bytes of a line, unit by unit. It
//                                                                         finds out once where they are; for the next line it
//                                                                         adds what that is further.
//   3 store    line   . . . 0 0 0 0 0 0 0 0|1 1 1 1 1 1 1 1|2 2 2 2 2     Lines begin anywhere: a lane stores an aligned vector,
//              stored . . . 0 0 0 0 0|0 0 0 1 1 1 1 1|1 1 1 2 2 2 2 2|    of its own bytes and those of the lane before.
//
// Elements of 1 and 2 bytes whose lines are neighbours in the image are read as words of 4 bytes, and turned in registers.
#pragma once
#include <inlay/block/load_ops.h>
#include <inlay/kernels/move/gather_grid.h>
#include <inlay/kernels/move/line_store.h>

namespace inlay::kernels {

template <class T, class Step>
struct GatherTile : GatherGrid<T, Step::limits.threads> {
  using Grid = GatherGrid<T, Step::limits.threads>;
  using Grid::E, Grid::V, Grid::threads, Grid::kLines, Grid::tile;
  using typename Grid::Here, typename Grid::Tile;
  static constexpr TileLimits limits = Step::limits;
  static constexpr int kInFlight = threads > 256 ? 2 : threads > 128 ? 4 : 8;  // vectors of a thread
  static constexpr LaunchFacts launch_facts{.threads = threads, .min_blocks = limits.held(E)};
  struct Smem {
    alignas(128) Vector16 image[limits.bytes / 16];  // of the rows; then the tables
    static void members(auto name) { name("image", &Smem::image); }
  };

  static GatherTile make(Move const& m, auto const& setting) {
    GatherTile k{};
    k.place(m, cut_of(m, setting.device));
    return k;
  }

  // What is the same for all threads.
  struct Tables {
    int64_t* rows;    // where they begin
    Vector16* lines;  // Grid::Lines
    uint32_t* units;  // where those within the modes before a line's last are
  };

  template <class Block>
  CUTE_DEVICE void operator()(Block block, Smem& smem) const {
    Here const h = this->here(block.group_index());
    char* const base = reinterpret_cast<char*>(smem.image);
    Tables const tables{reinterpret_cast<int64_t*>(base + tile.row_table),
                        reinterpret_cast<Vector16*>(base + tile.line_table),
                        reinterpret_cast<uint32_t*>(base + tile.unit_table)};
    if (tile.row_table < tile.line_table) {
      fill<int64_t>(block, tables.rows, tile.rows, [&](int i) { return this->row_begin(h, i); });
      block.sync();
      load(block, smem, h, tables, true_type{});
    } else {
      load(block, smem, h, tables, false_type{});
    }
    block.sync();
    if (E >= 4 && tile.apart)
      gather_apart(block, smem, h, tables);
    else
      gather(block, smem, h, tables);
  }

  template <class Entry, class Block, class F>
  CUTE_DEVICE static void fill(Block block, Entry* table, int n, F const& entry) {
    Copy_Atom<On<Block, UniversalCopy<Entry>>, Entry> atom;
    int const tid = int(block.thread_rank());
    CUTE_NO_UNROLL
    for (int i = 0; i + tid / 32 * 32 < n; i += threads) {
      bool const on = i + tid < n;
      Entry const e = entry(i + tid);
      copy_one(atom, on, &e, make_smem_ptr(table + (on ? i + tid : 0)));
    }
  }

  template <class Block, class Table>
  CUTE_DEVICE void load(Block block, Smem& smem, Here const& h, Tables const& tables, Table table) const {
    int span = tile.span, first_row = 0, rows = tile.rows;
    if (tile.span_slot >= 0) {
      auto const& slot = tile.slot[tile.span_slot];
      span -= (slot.piece + (tile.span_slot == 0 ? tile.shear : 0) - this->reach(h, tile.span_slot)) * tile.span_step;
    }
    if (!Table::value && tile.row_modes && tile.row[0].slot >= 0) {
      rows = this->reach(h, tile.row[0].slot);
      if (tile.shear && h.begins && tile.row[0].slot == 0) first_row = tile.shear;  // nothing is above
    }
    int const from = first_row * tile.vectors, to = rows * tile.vectors;
    if (E == 16 || tile.aligned)
      load_rows(block, smem, h, tables, span, from, to, table, true_type{});
    else
      load_rows(block, smem, h, tables, span, from, to, table, false_type{});
  }
  // The pieces of 16 bytes that a thread loads: every so many of them, row after row.
  struct Walk {
    int piece, row, v;  // which of all; vector v of a row
    int64_t from;       // bytes from the tile's lowest one, where rows have no table
    int to;             // vector in shared memory, padding not counted
  };
  CUTE_HOST_DEVICE Walk walk_from(int piece) const {
    int row, v;
    this->by_vectors(row, v, piece);
    return {piece, row, v, int64_t(row) * this->pitch + v * 16, row * tile.pitch + v};
  }
  CUTE_HOST_DEVICE void advance(Walk& w) const {
    w.piece += threads, w.row += this->rows_on, w.v += this->vectors_on;
    w.from += this->from_on, w.to += this->to_on;
    if (w.v >= tile.vectors)
      w.v -= tile.vectors, w.row += 1, w.from += this->pitch - tile.vectors * 16, w.to += tile.pitch - tile.vectors;
  }
  // Where the aligned vectors are that hold a piece, one or two; how many bytes of these come before it; and its vector in
  // shared memory, -1 if there is none.
  struct Piece {
    char const* vectors;
    int count, past, to;
  };
  template <class Block, class Table>
  CUTE_DEVICE Piece piece(Block, Here const& h, Tables const& tables, Walk const& w, int span, int end, Table) const {
    Copy_Atom<On<Block, LoadShared<int64_t>>, int64_t> row_atom;
    bool on = w.piece < end && w.v * 16 < span;
    int64_t begin = w.from;
    if constexpr (Table::value) {
      copy_one(row_atom, on, make_smem_ptr(tables.rows + (on ? w.row : 0)), &begin);
      on = on && begin >= 0;
      begin += w.v * 16;
    }
    char const* const from = h.src + begin;
    int const past = tile.aligned ? 0 : int(reinterpret_cast<uintptr_t>(from) & 15);
    return {from - past, past && past + span - w.v * 16 > 16 ? 2 : 1, past, on ? this->padded(w.to) : -1};
  }
  CUTE_DEVICE bool inside(Piece const& p) const { return this->range.holds(p.vectors, p.count * 16); }
  // Pieces [from, to) of the tile, and, while the first are in flight, the other tables.
  template <class Block, class Table, class Aligned>
  CUTE_DEVICE void load_rows(Block block, Smem& smem, Here const& h, Tables const& tables, int span, int from, int to,
                             Table table, Aligned) const {
    Copy_Atom<On<Block, LoadEvictLast<Vector16>>, Vector16> load_atom;
    Copy_Atom<On<Block, UniversalCopy<Vector16>>, Vector16> store_atom;
    constexpr int kAtOnce = Aligned::value ? kInFlight : kInFlight / 2;
    bool const all_inside = this->whole_inside(h);
    int const tid = int(block.thread_rank());
    Walk walk = walk_from(from + tid);
    CUTE_NO_UNROLL
    for (int i0 = from; i0 < to; i0 += kAtOnce * threads) {
      Vector16 lo[kAtOnce], hi[kAtOnce];
      int at[kAtOnce], past[kAtOnce];  // bytes of the first aligned vector that are not the piece's
      CUTE_UNROLL
      for (int j = 0; j < kAtOnce; ++j) {
        Piece const p = piece(block, h, tables, walk, span, to, table);
        advance(walk);
        past[j] = p.past;
        at[j] = all_inside || inside(p) ? p.to : -1;
        auto const vectors = make_gmem_ptr(reinterpret_cast<Vector16 const*>(p.vectors));
        copy_one(load_atom, at[j] >= 0, vectors, &lo[j]);
        if constexpr (!Aligned::value) copy_one(load_atom, at[j] >= 0 && p.count == 2, vectors + 1, &hi[j]);
      }
      if (i0 == from) {
        fill<Vector16>(block, tables.lines, tile.entries, [&](int i) { return this->lines_of(h, i); });
        if (tile.along_modes > 1)
          fill<uint32_t>(block, tables.units, tile.inner + V, [&](int i) { return uint32_t(this->unit_of(i)); });
      }
      CUTE_UNROLL
      for (int j = 0; j < kAtOnce; ++j) {
        if constexpr (!Aligned::value) {
          uint32_t word[4];
          realign(lo[j], hi[j], unsigned(past[j]), word);
          lo[j] = join(word);
        }
        copy_one(store_atom, at[j] >= 0, &lo[j], make_smem_ptr(smem.image + (at[j] < 0 ? 0 : at[j])));
      }
    }
    if (all_inside) return;
    // At the source's ends: pieces whose aligned vectors are outside in part, unit by unit.
    Copy_Atom<On<Block, UniversalCopy<T>>, T> unit_atom;
    walk = walk_from(from + tid);
    CUTE_NO_UNROLL
    for (int i0 = from; i0 < to; i0 += threads, advance(walk)) {
      Piece const p = piece(block, h, tables, walk, span, to, table);
      bool const on = p.to >= 0 && !inside(p);
      if (!block.any(on)) continue;
      Vector16 r = 0;
      CUTE_NO_UNROLL
      for (int v = V - 1; v >= 0; --v) {
        char const* const unit = p.vectors + p.past + v * E;
        T e{};
        copy_one(unit_atom, on && this->range.holds(unit, E), make_gmem_ptr(reinterpret_cast<T const*>(unit)), &e);
        r = V > 1 ? r << 8 * E % 128 | Vector16(e) : Vector16(e);
      }
      copy_one(store_atom, on, &r, make_smem_ptr(smem.image + (on ? p.to : 0)));
    }
  }

  // A warp's lanes: 2^lanes of them along a line, the rest on other lines.
  struct Lane {
    int along;  // which of the warps that lie side by side along a line
    int x, y;   // of the lane, along the line and across
    bool any;   // the warp has lines at all
  };
  CUTE_HOST_DEVICE Lane lane_of(int tid) const {
    int const lane = tid % 32;
    int along, group;
    this->by_warps(group, along, tid / 32);
    return {along, lane & ((1 << this->lanes) - 1), (lane >> this->lanes) + (group << (5 - this->lanes)),
            group < this->lines_apart >> (5 - this->lanes)};
  }
  // Where V units of a line are in shared memory: number x, x + apart, ...
  template <class Block>
  CUTE_DEVICE void places(Block, Here const& h, int x, int apart, Tables const& tables, int (&where)[V]) const {
    Copy_Atom<On<Block, LoadShared<uint32_t>>, uint32_t> unit_atom;
    int const step = tile.along[tile.along_modes - 1].image;
    if (tile.along_modes == 1) {
      CUTE_UNROLL
      for (int v = 0; v < V; ++v) where[v] = h.image + (x + v * apart) * step;
    } else {
      int digit = 0, unit = 0;
      CUTE_UNROLL
      for (int v = 0; v < V; ++v) {
        uint32_t entry;
        if (v == 0 || apart > 1)
          this->by_inner(digit, unit, x + v * apart);  // the table goes on a window beyond `inner`
        copy_one(unit_atom, true, make_smem_ptr(tables.units + (apart > 1 ? unit : unit + v)), &entry);
        where[v] = h.image + digit * step + int(entry);
      }
    }
    if (tile.skew == 0) return;
    CUTE_UNROLL
    for (int v = 0; v < V; ++v) where[v] = this->place(where[v]);
  }
  // Units of a line that are lanes apart, stored one by one.
  template <class Block>
  CUTE_DEVICE void gather_apart(Block block, Smem& smem, Here const& h, Tables const& tables) const {
    Copy_Atom<On<Block, LoadShared<Vector16>>, Vector16> line_atom;
    Copy_Atom<On<Block, LoadShared<T>>, T> load_atom;
    Copy_Atom<On<Block, UniversalCopy<T>>, T> store_atom;
    char const* const base = reinterpret_cast<char const*>(smem.image);
    Lane const lane = lane_of(int(block.thread_rank()));
    if (!lane.any) return;
    CUTE_NO_UNROLL
    for (int turn = lane.along; turn < tile.turns; turn += this->warps_along) {
      int const x = (turn * V << this->lanes) + lane.x;
      int where[V];
      places(block, h, x, 1 << this->lanes, tables, where);
      CUTE_NO_UNROLL
      for (int y = lane.y; y < tile.entries; y += this->lines_apart) {
        Vector16 entry;
        copy_one(line_atom, true, make_smem_ptr(tables.lines + y), &entry);
        char* const out = h.dst + int64_t(uint64_t(entry));
        int const image = int(uint32_t(entry >> 64)), end = int(uint32_t(entry >> 96)) >> 3;
        // With a shear the line goes from sector to sector.
        int const early = tile.shear ? int(reinterpret_cast<uintptr_t>(out) & 31) / E : 0;
        int const begin = tile.shear - (h.begins ? 0 : early), most = tile.windows * V - early;
        int const stop = tile.shear && most < end ? most : end;
        T e[V];
        CUTE_UNROLL
        for (int v = 0; v < V; ++v) {
          int const i = x + (v << this->lanes);
          copy_one(load_atom, i >= begin && i < stop,
                   make_smem_ptr(reinterpret_cast<T const*>(base + (where[v] + image))), &e[v]);
        }
        CUTE_UNROLL
        for (int v = 0; v < V; ++v) {
          int const i = x + (v << this->lanes);
          copy_one(store_atom, i >= begin && i < stop, &e[v], make_gmem_ptr(reinterpret_cast<T*>(out) + i));
        }
      }
    }
  }
  // Windows of 16 bytes. Where lines begin anywhere the first lane's is the last of the turn before.
  template <class Block>
  CUTE_DEVICE void gather(Block block, Smem& smem, Here const& h, Tables const& tables) const {
    Copy_Atom<On<Block, LoadShared<Vector16>>, Vector16> line_atom;
    Copy_Atom<On<Block, UniversalCopy<Vector16>>, Vector16> store_atom;
    Lane const lane = lane_of(int(block.thread_rank()));
    if (!lane.any) return;
    int const step = (1 << this->lanes) - (tile.whole ? 0 : 1), first = tile.shear && h.begins ? tile.shear / V : 0;
    CUTE_NO_UNROLL
    for (int turn = lane.along; turn < tile.turns; turn += this->warps_along) {
      int const x = turn * step + lane.x;
      bool const ours = tile.whole || turn == 0 || lane.x > 0;
      int where[V];
      places(block, h, x * V, 1, tables, where);
      CUTE_NO_UNROLL
      for (int y = lane.y; y < tile.entries; y += this->lines_apart) {
        Vector16 entry;
        copy_one(line_atom, true, make_smem_ptr(tables.lines + y), &entry);
        char* const out = h.dst + int64_t(uint64_t(entry));
        int const image = int(uint32_t(entry >> 64)), mixed = int(uint32_t(entry >> 96));
        int const count = mixed & 7, end = mixed >> 3;
        int const units = x < first ? 0 : end - x * V;  // from the window's first on
        bool const full = block.all(units >= V || units <= 0);
        Vector16 r[kLines];
        if (full)
          read(block, smem, where, image, units, r, true_type{});
        else
          read(block, smem, where, image, units, r, false_type{});
        CUTE_UNROLL
        for (int i = 0; i < kLines; ++i) {
          if (i > 0 && !tile.words) break;
          bool const on_line = ours && i < count;
          char* const line = out + i * tile.line[0].dst;
          if (E < 4 && !tile.whole) {
            // With a shear the line goes from sector to sector.
            int const early = tile.shear ? int(reinterpret_cast<uintptr_t>(line) & 31) : 0;
            int const begin = tile.shear * E - (h.begins ? 0 : early), most = tile.windows * 16 - early;
            store_aligned<E>(block, on_line, line, x, begin, tile.shear && most < end * E ? most : end * E,
                             of_lane_before(block, r[i]), r[i]);
          } else {
            copy_one(store_atom, on_line && units >= V, &r[i],
                     make_gmem_ptr(reinterpret_cast<Vector16*>(line + x * 16)));
            if (!full) store_piece<E>(block, on_line && units > 0 && units < V, line + x * 16, 0, units * E, r[i]);
          }
        }
      }
    }
  }
  // The first `units` of a window, of a line or of kLines; all of them where it is Whole.
  template <class Block, class Whole>
  CUTE_DEVICE void read(Block, Smem& smem, int const (&where)[V], int image, int units, Vector16 (&r)[kLines],
                        Whole) const {
    Copy_Atom<On<Block, LoadShared<T>>, T> unit_atom;
    Copy_Atom<On<Block, LoadShared<uint32_t>>, uint32_t> word_atom;
    char const* const base = reinterpret_cast<char const*>(smem.image);
    auto const on = [&](int v) { return units > (Whole::value ? 0 : v); };
    if constexpr (kLines > 1) {
      if (tile.words) {
        uint32_t word[V];
        CUTE_UNROLL
        for (int v = 0; v < V; ++v)
          copy_one(word_atom, on(v), make_smem_ptr(reinterpret_cast<uint32_t const*>(base + (where[v] + image))),
                   &word[v]);
        turn(word, r);
        return;
      }
    }
    T e[V];
    CUTE_UNROLL
    for (int v = 0; v < V; ++v)
      copy_one(unit_atom, on(v), make_smem_ptr(reinterpret_cast<T const*>(base + (where[v] + image))), &e[v]);
    r[0] = joined(e);
  }
  // Words of a unit of each of kLines lines become the lines' vectors.
  CUTE_HOST_DEVICE static void turn(uint32_t const (&word)[V], Vector16 (&r)[kLines]) {
    uint32_t of[kLines][4];
    CUTE_UNROLL
    for (int w = 0; w < 4; ++w) {
      uint32_t square[kLines];
      CUTE_UNROLL
      for (int i = 0; i < kLines; ++i) square[i] = word[w * kLines + i];
      transpose_words(square);
      CUTE_UNROLL
      for (int i = 0; i < kLines; ++i) of[i][w] = square[i];
    }
    CUTE_UNROLL
    for (int i = 0; i < kLines; ++i) r[i] = join(of[i]);
  }
  // Of a widened move. One that nobody has cut is cut as the model would.
  static Cut cut_of(Move const& m, Device const& device) {
    return m.cut.modes ? m.cut : best_cut(m, limits, device).cut;
  }
  static double seconds(Move const& m, Device const& device) {
    Tile t;
    make_tile(m, cut_of(m, device), threads, t);
    return seconds_of(work_of(m, t, limits), device);
  }
  static Reason rejects(Move const& m, Device const& device) {
    Cut const cut = cut_of(m, device);
    if (cut.modes == 0)
      return {"no tile of {} bytes holds a piece of it that is contiguous in the destination", {limits.bytes}};
    Tile t;
    if (Reason r = make_tile(m, cut, threads, t)) return r;
    if (t.shared_bytes > limits.bytes) return {"a tile of {} bytes is more than {}", {t.shared_bytes, limits.bytes}};
    for (int i = 0; i < t.outers; ++i)
      if (t.outer[i].tiles > INT32_MAX)
        return {
            "{} tiles along a mode are more than a grid holds", {t.outer[i].tiles}, t.outer[i].tiles / INT32_MAX + 1};
    return too_many("{} tiles are more blocks than a grid holds", t.blocks(), 1, {t.blocks(), 0, 0});
  }
};

}  // namespace inlay::kernels
