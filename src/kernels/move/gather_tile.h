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

namespace inlay::kernels {

template <class T, class Step>
struct GatherTile : GatherGrid<T, Step::limits.threads> {
  using Grid = GatherGrid<T, Step::limits.threads>;
  using Grid::E, Grid::V, Grid::threads, Grid::kLines, Grid::tile;
  using typename Grid::Here, typename Grid::Tile;
  static constexpr TileLimits limits = Step::limits;
  static constexpr int kInFlight = threads > 128 ? 4 : 8;  // vectors of a thread
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
    if (tile.aligned)
      load_rows(block, smem, h, tables, span, from, to, table, true_type{});
    else
      load_rows(block, smem, h, tables, span, from, to, table, false_type{});
  }
  // 16 bytes of a row: where the aligned vectors are that hold them, one or two; how many bytes of these come before them;
  // and their vector in shared memory, -1 if there are none.
  struct Piece {
    char const* vectors;
    int count, past, to;
  };
  template <class Block, class Table>
  CUTE_DEVICE Piece piece(Block, Here const& h, Tables const& tables, int span, int i, int end, Table) const {
    Copy_Atom<On<Block, LoadShared<int64_t>>, int64_t> row_atom;
    int row, v;
    this->by_vectors(row, v, i);
    bool on = i < end && v * 16 < span;
    int64_t begin = int64_t(row) * this->pitch;
    if constexpr (Table::value) {
      copy_one(row_atom, on, make_smem_ptr(tables.rows + (on ? row : 0)), &begin);
      on = on && begin >= 0;
    }
    char const* const from = h.src + (begin + v * 16);
    int const past = tile.aligned ? 0 : int(reinterpret_cast<uintptr_t>(from) & 15);
    return {from - past, past && past + span - v * 16 > 16 ? 2 : 1, past, on ? this->padded(row * tile.pitch + v) : -1};
  }
  CUTE_DEVICE bool inside(Piece const& p) const {
    return p.vectors >= this->first && p.vectors + p.count * 16 <= this->last;
  }
  // Pieces [from, to) of the tile, and, while the first are in flight, the other tables.
  template <class Block, class Table, class Aligned>
  CUTE_DEVICE void load_rows(Block block, Smem& smem, Here const& h, Tables const& tables, int span, int from, int to,
                             Table table, Aligned) const {
    Copy_Atom<On<Block, LoadEvictLast<Vector16>>, Vector16> load_atom;
    Copy_Atom<On<Block, UniversalCopy<Vector16>>, Vector16> store_atom;
    constexpr int kAtOnce = Aligned::value ? kInFlight : kInFlight / 2;
    bool const all_inside = this->whole_inside(h);
    int const tid = int(block.thread_rank());
    CUTE_NO_UNROLL
    for (int i0 = from; i0 < to; i0 += kAtOnce * threads) {
      Vector16 lo[kAtOnce], hi[kAtOnce];
      int at[kAtOnce], past[kAtOnce];  // bytes of the first aligned vector that are not the piece's
      CUTE_UNROLL
      for (int j = 0; j < kAtOnce; ++j) {
        Piece const p = piece(block, h, tables, span, i0 + j * threads + tid, to, table);
        past[j] = p.past;
        at[j] = all_inside || inside(p) ? p.to : -1;
        auto const vectors = make_gmem_ptr(reinterpret_cast<Vector16 const*>(p.vectors));
        copy_one(load_atom, at[j] >= 0, vectors, &lo[j]);
        if constexpr (!Aligned::value) copy_one(load_atom, at[j] >= 0 && p.count == 2, vectors + 1, &hi[j]);
      }
      if (i0 == from) {
        fill<Vector16>(block, tables.lines, tile.groups, [&](int i) { return this->lines_of(h, i); });
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
    CUTE_NO_UNROLL
    for (int i0 = from; i0 < to; i0 += threads) {
      Piece const p = piece(block, h, tables, span, i0 + tid, to, table);
      bool const on = p.to >= 0 && !inside(p);
      if (!block.any(on)) continue;
      Vector16 r = 0;
      CUTE_NO_UNROLL
      for (int v = V - 1; v >= 0; --v) {
        char const* const unit = p.vectors + p.past + v * E;
        T e{};
        copy_one(unit_atom, on && unit >= this->first && unit < this->last,
                 make_gmem_ptr(reinterpret_cast<T const*>(unit)), &e);
        r = V > 1 ? r << 8 * E % 128 | Vector16(e) : Vector16(e);
      }
      copy_one(store_atom, on, &r, make_smem_ptr(smem.image + (on ? p.to : 0)));
    }
  }

  // A warp's lanes: 2^lanes windows of a line, the rest other lines. Where lines begin anywhere the first lane's window is
  // the last of the turn before.
  template <class Block>
  CUTE_DEVICE void gather(Block block, Smem& smem, Here const& h, Tables const& tables) const {
    Copy_Atom<On<Block, LoadShared<Vector16>>, Vector16> line_atom;
    int const lane = int(block.thread_rank()) % 32, lane_x = lane & ((1 << this->lanes) - 1);
    int along, group;
    this->by_warps(group, along, int(block.thread_rank()) / 32);
    int const y_first = (lane >> this->lanes) + (group << (5 - this->lanes));
    int const y_end = group < this->lines_apart >> (5 - this->lanes) ? tile.groups : 0;  // warps beyond have none
    int const step = (1 << this->lanes) - (tile.whole ? 0 : 1), first = tile.shear && h.begins ? tile.shear / V : 0;
    CUTE_NO_UNROLL
    for (int turn = along; turn < tile.turns; turn += this->warps_along) {
      int const x = turn * step + lane_x;
      bool const ours = tile.whole || turn == 0 || lane_x > 0;
      int where[V];
      places(block, h, x, tables, where);
      CUTE_NO_UNROLL
      for (int y0 = 0; y0 < y_end; y0 += this->lines_apart) {
        int const y = y0 + y_first;
        bool const on = y < y_end;
        Vector16 entry = 0;
        copy_one(line_atom, on, make_smem_ptr(tables.lines + (on ? y : 0)), &entry);
        char* const out = h.dst + int64_t(uint64_t(entry));
        int const image = int(uint32_t(entry >> 64)), mixed = on ? int(uint32_t(entry >> 96)) : 0;
        int const count = mixed & 7, end = count ? mixed >> 3 : 0;
        int const units = x < first ? 0 : end / E - x * V;  // from the window's first on
        Vector16 r[kLines];
        if (block.all(units >= V || units <= 0))
          read(block, smem, where, image, units, r, true_type{});
        else
          read(block, smem, where, image, units, r, false_type{});
        CUTE_UNROLL
        for (int i = 0; i < kLines; ++i)
          if (i == 0 || tile.words) store(block, h, ours && i < count, out + i * tile.line[0].dst, x, end, r[i]);
      }
    }
  }
  // Where the units of window number x are.
  template <class Block>
  CUTE_DEVICE void places(Block, Here const& h, int x, Tables const& tables, int (&where)[V]) const {
    Copy_Atom<On<Block, LoadShared<uint32_t>>, uint32_t> unit_atom;
    int const step = tile.along[tile.along_modes - 1].image;
    if (tile.along_modes == 1) {
      CUTE_UNROLL
      for (int v = 0; v < V; ++v) where[v] = this->place(h.image + (x * V + v) * step);
      return;
    }
    int digit, unit;
    this->by_inner(digit, unit, x * V);
    CUTE_UNROLL
    for (int v = 0; v < V; ++v) {
      uint32_t entry;
      copy_one(unit_atom, true, make_smem_ptr(tables.units + (unit + v)), &entry);
      where[v] = this->place(h.image + digit * step + int(entry));
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
  // Window number x of the line that begins at `out` and has so many bytes: the aligned vector that it ends in.
  template <class Block>
  CUTE_DEVICE void store(Block block, Here const& h, bool on, char* out, int x, int bytes, Vector16 r) const {
    Copy_Atom<On<Block, UniversalCopy<Vector16>>, Vector16> atom;
    int const past = int(reinterpret_cast<uintptr_t>(out) & 31);
    if (E < 16 && !tile.whole) {
      uint64_t const lo = block.shfl_up(uint64_t(r), 1), hi = block.shfl_up(uint64_t(r >> 64), 1);
      uint32_t word[4];
      realign(past & 15 ? Vector16(hi) << 64 | lo : r, r, unsigned(-past), word);
      r = join(word);
    }
    int const early = tile.shear ? past : 0;  // the line goes from sector to sector
    int const begin = tile.shear * E - (h.begins ? 0 : early), at = x * 16 - (past & 15);
    int const end = tile.shear && tile.windows * 16 - early < bytes ? tile.windows * 16 - early : bytes;
    char* const to = out + at;
    bool const whole = on && at >= begin && at + 16 <= end;
    copy_one(atom, whole, &r, make_gmem_ptr(reinterpret_cast<Vector16*>(to)));
    if constexpr (E < 16) {
      bool const part = on && !whole && at + 16 > begin && at < end;
      if (block.any(part)) ends(block, part, to, at < begin ? begin - at : 0, at + 16 < end ? 16 : end - at, r);
    }
  }
  // Bytes [from, end) of a vector, in the largest pieces that are aligned.
  template <class Block>
  CUTE_DEVICE void ends(Block, bool on, char* to, int from, int end, Vector16 r) const {
    uint32_t word[4];
    realign(r, r, unsigned(from), word);
    Vector16 rest = join(word);
    auto const aligned_piece = [&](auto piece, bool now) {
      constexpr int size = sizeof(piece);
      if constexpr (size >= int(sizeof(T))) {
        Copy_Atom<On<Block, UniversalCopy<decltype(piece)>>, decltype(piece)> atom;
        now = now && on && from + size <= end;
        piece = decltype(piece)(rest);
        copy_one(atom, now, &piece, make_gmem_ptr(reinterpret_cast<decltype(piece)*>(to + from)));
        if (now) rest >>= 8 * size, from += size;
      }
    };
    aligned_piece(uint8_t{}, from & 1);
    aligned_piece(uint16_t{}, from & 2);
    aligned_piece(uint32_t{}, from & 4);
    aligned_piece(uint64_t{}, true);
    aligned_piece(uint32_t{}, true);
    aligned_piece(uint16_t{}, true);
    aligned_piece(uint8_t{}, true);
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
