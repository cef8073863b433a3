// Family: any copy, in tiles that go through shared memory (planner/move_tile.h says how a tile is described).
//
//   1 load     row        . . . . a a a a|a a a . . . . .     Threads copy the aligned vectors of 16 bytes that a row lies
//              image      . . . . a a a a|a a a . . . . .     in, past the registers. In shared memory a row is as far past
//                         . b b b b b b b|. . . . . . . .     a vector's begin as in the source.
//   2 gather   lane           0 0 0 0 1 1 1 1|2 2 2 2 3 3 3 3|0 0 0 0     A lane gathers a few aligned words of a line, a warp
//   3 store    line       0 1 . . . . . . . .                 apart, and stores them. It finds out once where their units
//                                                             are; for the next line it adds what that is further. The
//                                                             ends of a line are stored one by one.
//
// Elements of 1 and 2 bytes whose lines are neighbours in the image are read as words of 4 bytes, and turned in registers; of
// a line that is contiguous there two words make one.
#pragma once
#include <inlay/block/load_ops.h>
#include <inlay/kernels/copy/copy_tiled_grid.h>

namespace inlay::kernels {

template <class T, class Step>
struct CopyTiled : CopyTiledGrid<T, Step::limits.threads> {
  using Grid = CopyTiledGrid<T, Step::limits.threads>;
  using Grid::E, Grid::U, Grid::threads, Grid::kLines, Grid::tile;
  using typename Grid::Here;
  using Word = std::conditional_t<(E < 4), uint32_t, T>;  // what is stored at once
  static constexpr TileLimits limits = Step::limits;
  static constexpr LaunchInfo launch_info{.threads = threads, .min_blocks = limits.blocks};
  struct Smem {
    alignas(128) Vector16 image[limits.bytes / 16];  // of the rows; then the tables
    Vector16 here[3];
    static void members(auto name) { name("image", &Smem::image), name("here", &Smem::here); }
  };

  static CopyTiled make(Copy const& m, auto const& setting) {
    CopyTile t;
    if (Reason const r = tile_of(m, cut_of(m, setting.device), t)) throw Error(r.sentence());
    CopyTiled k{};
    k.place(m, t);
    return k;
  }

  // What is the same for all threads.
  struct Tables {
    Vector16* rows;   // Grid::row_begin
    Vector16* lines;  // Grid::Lines
    uint32_t* units;  // where those within the modes before a line's last are
  };

  struct Lane {
    int along;  // which of the warps that lie side by side along a line
    int x, y;   // of the lane, along the line and across
    bool any;   // the warp has lines at all
  };

  template <class Block>
  CUTE_DEVICE void operator()(Block block, Smem& smem) const {
    Here const h = shared_here(block, smem);
    char* const base = reinterpret_cast<char*>(smem.image);
    Tables const tables{reinterpret_cast<Vector16*>(base + tile.row_table),
                        reinterpret_cast<Vector16*>(base + tile.line_table),
                        reinterpret_cast<uint32_t*>(base + tile.unit_table)};
    if (tile.row_table < tile.line_table) {
      fill<Vector16>(block, tables.rows, tile.rows, [&](int i) { return this->row_begin(h, i); });
      block.sync();
      load(block, smem, h, tables, true_type{});
    } else {
      load(block, smem, h, tables, false_type{});
    }
    // While that is under way.
    fill<Vector16>(block, tables.lines, tile.entries, [&](int i) { return this->lines_of(h, i); });
    if (tile.along_modes > 1)
      fill<uint32_t>(block, tables.units, tile.inner + U, [&](int i) { return uint32_t(this->unit_of(i)); });
    Lane const lane = lane_of(int(block.thread_rank()));
    block.cp_async_wait(Int<0>{});
    block.sync();
    char const* const image = base + past_of(h.src) + h.image;
    if constexpr (E < 4)
      if (h.ends) store_ends(block, image, h, tables);
    if constexpr (E < 4)
      if (tile.runs) return gather<Read::runs, false>(block, lane, image, h, tables);
    if (tile.along_modes > 1)
      gather_by<true>(block, lane, image, h, tables);
    else
      gather_by<false>(block, lane, image, h, tables);
  }
  template <bool kTable, class Block>
  CUTE_DEVICE void gather_by(Block block, Lane const& lane, char const* image, Here const& h,
                             Tables const& tables) const {
    if constexpr (E < 4)
      if (tile.words) return gather<Read::words, kTable>(block, lane, image, h, tables);
    gather<Read::units, kTable>(block, lane, image, h, tables);
  }
  // One warp works it out for all.
  template <class Block>
  CUTE_DEVICE Here shared_here(Block block, Smem& smem) const {
    Copy_Atom<On<Block, UniversalCopy<Vector16>>, Vector16> store_atom;
    Copy_Atom<On<Block, LoadShared<Vector16>>, Vector16> load_atom;
    if (int(block.thread_rank()) < 32) {
      Vector16 packed[3];
      this->pack(this->here(block.block_index()), packed);
      CUTE_UNROLL
      for (int i = 0; i < 3; ++i)
        copy_one(store_atom, block.thread_rank() == 0, &packed[i], make_smem_ptr(smem.here + i));
    }
    block.sync();
    Vector16 packed[3];
    CUTE_UNROLL
    for (int i = 0; i < 3; ++i) copy_one(load_atom, true, make_smem_ptr(smem.here + i), &packed[i]);
    return this->unpacked(packed);
  }
  CUTE_HOST_DEVICE static int past_of(char const* p) { return E == 16 ? 0 : int(reinterpret_cast<uintptr_t>(p) & 15); }

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

  // A thread loads the same vectors of rows that lie so many rows apart.
  template <class Block, class Table>
  CUTE_DEVICE void load(Block block, Smem& smem, Here const& h, Tables const& tables, Table) const {
    int row, v;
    this->by_vectors(row, v, int(block.thread_rank()));
    int const rows = row < this->rows_on ? h.rows : 0;  // some threads are left over
    row += h.first_row;
    char* const image = reinterpret_cast<char*>(smem.image) + past_of(h.src);
    CUTE_NO_UNROLL
    for (; v < tile.vectors; v += threads) {
      if (h.inside)
        load_column<Table::value, false>(block, h, tables, image, row, rows, v);
      else
        load_column<Table::value, true>(block, h, tables, image, row, rows, v);
    }
    block.cp_async_fence();
  }
  // Vector v of rows [row, rows), those of this thread. At the source's ends vectors may be outside in part: they are loaded
  // unit by unit.
  template <bool kTable, bool kEnds, class Block>
  CUTE_DEVICE void load_column(Block, Here const& h, Tables const& tables, char* image, int row, int rows,
                               int v) const {
    Copy_Atom<On<Block, LoadAsync>, Vector16> load_atom;
    Copy_Atom<On<Block, LoadShared<Vector16>>, Vector16> row_atom;
    Copy_Atom<On<Block, UniversalCopy<T>>, T> unit_atom;
    char const* from = h.src + v * 16 + row * this->row(0).src;
    char* to = image + v * 16 + row * this->row(0).image;
    CUTE_NO_UNROLL
    for (; row < rows; row += 2 * this->rows_on) {
      CUTE_UNROLL
      for (int j = 0; j < 2; ++j) {
        bool on = row + j * this->rows_on < rows;
        if constexpr (kTable) {
          Vector16 entry = 0;
          copy_one(row_atom, on, make_smem_ptr(tables.rows + (on ? row + j * this->rows_on : 0)), &entry);
          from = h.src + v * 16 + int64_t(uint64_t(entry)), to = image + v * 16 + int(uint32_t(entry >> 64));
          on = on && int64_t(uint64_t(entry)) >= 0;
        }
        // In the source as in shared memory: what of the first vector is not the row's.
        int const past = E == 16 ? 0 : int(reinterpret_cast<uintptr_t>(to) & 15);
        on = on && v * 16 - h.span < past;
        auto const vector = reinterpret_cast<Vector16 const*>(reinterpret_cast<uintptr_t>(from) & ~uintptr_t(15));
        bool const whole = !kEnds || this->range.holds(reinterpret_cast<char const*>(vector), 16);
        copy_one(load_atom, on && whole, make_gmem_ptr(vector), make_smem_ptr(reinterpret_cast<Vector16*>(to - past)));
        if constexpr (kEnds)
          if (on && !whole) CUTE_NO_UNROLL
        for (int i = -past; i < 16 - past; i += E) {
          T e{};
          copy_one(unit_atom, this->range.holds(from + i, E), make_gmem_ptr(reinterpret_cast<T const*>(from + i)), &e);
          copy_one(unit_atom, true, &e, make_smem_ptr(reinterpret_cast<T*>(to + i)));
        }
        if constexpr (!kTable) from += this->from_on, to += this->at_on;
      }
    }
  }

  // A warp's lanes: 2^lanes of them along a line, the rest on other lines.
  CUTE_HOST_DEVICE Lane lane_of(int tid) const {
    int const lane = tid % 32;
    int along, group;
    this->by_warps(group, along, tid / 32);
    return {along, lane & ((1 << this->lanes) - 1), (lane >> this->lanes) + (group << (5 - this->lanes)),
            group < this->lines_apart >> (5 - this->lanes)};
  }
  // Where n neighbours are, from unit i of a line on; of what is not the line's, the nearest.
  template <int n, class Block>
  CUTE_DEVICE void units_at(Block, Tables const& tables, int i, int (&where)[n]) const {
    Copy_Atom<On<Block, LoadShared<uint32_t>>, uint32_t> atom;
    int const step = this->along(tile.along_modes - 1).image, units = tile.units + tile.sheared_units();
    i = i > units - n ? units - n : i;
    i = i < 0 ? 0 : i;
    int digit, unit;
    this->by_inner(digit, unit, i);
    CUTE_UNROLL
    for (int u = 0; u < n; ++u) {
      uint32_t entry;
      copy_one(atom, true, make_smem_ptr(tables.units + unit + u), &entry);  // the table goes on beyond `inner`
      where[u] = digit * step + int(entry);
    }
  }
  using Lines = typename Grid::Lines;
  template <class Block>
  CUTE_DEVICE Lines lines_at(Block, Tables const& tables, int y) const {
    Copy_Atom<On<Block, LoadShared<Vector16>>, Vector16> atom;
    Vector16 entry;
    copy_one(atom, true, make_smem_ptr(tables.lines + y), &entry);
    return Lines::unpacked(entry);
  }
  enum class Read { units, words, runs };
  template <Read kRead, bool kTable, class Block>
  CUTE_DEVICE void gather(Block block, Lane const& lane, char const* image, Here const& h, Tables const& tables) const {
    constexpr bool kWords = kRead == Read::words;
    constexpr int L = kWords ? kLines : 1, K = CopyTile::stores_of_a_lane(E, kWords);
    Copy_Atom<On<Block, UniversalCopy<Word>>, Word> store_atom;
    if (!lane.any) return;
    CUTE_NO_UNROLL
    for (int turn = lane.along; turn < tile.turns; turn += this->warps_along) {
      int const x = (turn * K << this->lanes) + lane.x;
      // Of a line of one mode the first unit's place says all others'.
      int where[K][kTable ? U : 1], placed = -1;
      if constexpr (!kTable) {
        CUTE_UNROLL
        for (int k = 0; k < K; ++k) {
          int const word = x + (k << this->lanes), last = tile.stores - 1;
          where[k][0] = (word < last ? word : last) * U * this->along(0).image;
        }
      }
      CUTE_NO_UNROLL
      for (int y = lane.y; y < tile.entries; y += this->lines_apart) {
        Lines const line = lines_at(block, tables, y);
        if constexpr (kTable)
          if (line.past != placed) {
            CUTE_UNROLL
            for (int k = 0; k < K; ++k) units_at<U>(block, tables, (x + (k << this->lanes)) * U - line.past, where[k]);
            placed = line.past;
          }
        bool on[K];
        CUTE_UNROLL
        for (int k = 0; k < K; ++k) on[k] = unsigned(x - line.first + (k << this->lanes)) < unsigned(line.words);
        Word r[K][L];
        // Words of several units that no lane stores are read as well where they are there: without a branch for each.
        if (U > 1 && tile.units >= U && block.all(line.all)) {
          CUTE_UNROLL
          for (int k = 0; k < K; ++k) read<kRead, kTable>(block, true, where[k], image + line.image, r[k]);
        } else {
          CUTE_UNROLL
          for (int k = 0; k < K; ++k) read<kRead, kTable>(block, on[k], where[k], image + line.image, r[k]);
        }
        CUTE_UNROLL
        for (int n = 0; n < L; ++n) {
          auto to = reinterpret_cast<Word*>(h.dst + line.to + n * this->line(0).dst) + x;
          CUTE_UNROLL
          for (int k = 0; k < K; ++k, to += 1 << this->lanes)
            copy_one(store_atom, on[k] && (L == 1 || n < line.count), &r[k][n], make_gmem_ptr(to));
        }
      }
    }
  }
  // A word of each of L lines.
  template <Read kRead, bool kTable, class Block, int P, int L>
  CUTE_DEVICE void read(Block, bool on, int const (&where)[P], char const* image, Word (&r)[L]) const {
    using One = std::conditional_t<kRead == Read::units, T, Word>;
    Copy_Atom<On<Block, LoadExtended<One>>, One> atom;
    if constexpr (kRead == Read::runs) {
      char const* const from = image + where[0];
      int const past = int(reinterpret_cast<uintptr_t>(from) & 3);
      auto const pair = reinterpret_cast<Word const*>(from - past);
      Word lo{}, hi{};
      copy_one(atom, on, make_smem_ptr(pair), &lo);
      copy_one(atom, on && past, make_smem_ptr(pair + 1), &hi);
      r[0] = funnel_shift_right(lo, hi, unsigned(past * 8));
    } else {
      Word e[U]{};  // else what no lane asks for would wait for what another has read
      CUTE_UNROLL
      for (int u = 0; u < U; ++u) {
        int const at = kTable ? where[u] : where[0] + u * this->along(0).image;
        copy_one(atom, on, make_smem_ptr(reinterpret_cast<One const*>(image + at)), &e[u]);
      }
      if constexpr (kRead == Read::words) {
        transpose_words(e);
        CUTE_UNROLL
        for (int n = 0; n < L; ++n) r[n] = e[n];
      } else {
        r[0] = word_of(e);
      }
    }
  }
  // What of lines is no whole word: of eight lanes 0 to 3 have the first word's units, 4 to 7 those behind the last.
  template <class Block>
  CUTE_DEVICE void store_ends(Block block, char const* image, Here const& h, Tables const& tables) const {
    Copy_Atom<On<Block, UniversalCopy<T>>, T> atom;
    Copy_Atom<On<Block, LoadShared<T>>, T> load_atom;
    int const tid = int(block.thread_rank()), x = tid % 8;
    CUTE_NO_UNROLL
    for (int y0 = tid / 32 * 4; y0 < tile.entries; y0 += threads / 8) {
      int const y = y0 + tid % 32 / 8;
      Lines const line = lines_at(block, tables, y < tile.entries ? y : y0);
      int const from = x < 4 ? (line.first - 1) * U + line.begin : (line.first + line.words) * U;
      int const i = from + x % 4;  // from word 0 on
      int where[1];
      if (tile.along_modes > 1)
        units_at<1>(block, tables, i - line.past, where);
      else
        where[0] = i * this->along(0).image;
      CUTE_NO_UNROLL
      for (int n = 0; n < (tile.words ? kLines : 1); ++n) {
        T e{};
        bool const on = x % 4 < (x < 4 ? line.head : line.tail) && n < line.count && y < tile.entries;
        if (!block.any(on)) break;
        copy_one(load_atom, on, make_smem_ptr(reinterpret_cast<T const*>(image + line.image + where[0]) + n), &e);
        copy_one(atom, on, &e, make_gmem_ptr(reinterpret_cast<T*>(h.dst + line.to + n * this->line(0).dst) + i));
      }
    }
  }
  // Of a widened copy. One that nobody has cut is cut as the model would.
  static Tiling cut_of(Copy const& m, Device const& device) {
    return m.tiling.modes ? m.tiling : best_tiling(m, limits, device).tiling;
  }
  // The tile that a block of this kernel takes. Empty, or why no launch can have it.
  static Reason tile_of(Copy const& m, Tiling const& tiling, CopyTile& t) {
    if (tiling.modes == 0)
      return {"no tile of {} bytes holds a piece of it that is contiguous in the destination", {limits.bytes}};
    if (Reason r = make_tile(m, tiling, threads, t)) return r;
    if (t.shared_bytes > limits.bytes) return {"a tile of {} bytes is more than {}", {t.shared_bytes, limits.bytes}};
    for (int i = 0; i < t.outers; ++i)
      if (t.outer[i].tiles > INT32_MAX)
        return {
            "{} tiles along a mode are more than a grid holds", {t.outer[i].tiles}, t.outer[i].tiles / INT32_MAX + 1};
    return too_many("{} tiles are more blocks than a grid holds", t.blocks(), 1, {t.blocks(), 0, 0});
  }
  static double seconds(Copy const& m, Device const& device) {
    CopyTile t;
    if (tile_of(m, cut_of(m, device), t)) return HUGE_VAL;
    return seconds_of(work_of(m, t, limits), device);
  }
  static Reason rejects(Copy const& m, Device const& device) {
    CopyTile t;
    return tile_of(m, cut_of(m, device), t);
  }
};

// ---- the instances of kernels.def

struct Tiles16K {
  static constexpr TileLimits limits{.threads = 128, .bytes = 20 << 10, .blocks = 8};
  static constexpr char const* idea =
      "Any layout to any other through tiles of 16 KB in shared memory: source runs come in by cp.async as they lie, "
      "destination runs are gathered from them.";
};
struct Tiles36K {
  static constexpr TileLimits limits{.threads = 256, .bytes = 40 << 10, .blocks = 4};
  static constexpr char const* idea =
      "As copy_tiled_16k with tiles of 36 KB: modes that are long on both sides, or odd.";
};
struct Tiles64K {
  static constexpr TileLimits limits{.threads = 512, .bytes = 72 << 10, .blocks = 2};
  static constexpr char const* idea = "As copy_tiled_16k with tiles of 64 KB: the longest runs on both sides.";
};

namespace copy_tiled {
template <class Instance>
struct Family {
  template <class T>
  using Kernel = CopyTiled<Carrier<T>, Instance>;
};
template <class Instance>
using Dispatch = ByUnit<Family<Instance>::template Kernel>;
template <class Instance>
constexpr Info<Copy> info(char const* name) {
  return {.name = name,
          .idea = Instance::idea,
          .source = "inlay",
          .ladder = Ladder::none,
          .origin = Origin::ours,
          .rejects = rejects_wide<Family<Instance>::template Kernel>,
          .seconds = seconds_wide<Family<Instance>::template Kernel>,
          .limits = &Instance::limits};
}
}  // namespace copy_tiled

}  // namespace inlay::kernels
