// Family: a copy between any two layouts, in tiles in shared memory (copy_tile.h).
//
//   1 load     source run     . . . . a a a a|a a a . . . . .    cp.async of the aligned 16-byte
//              shared memory  . . . . a a a a|a a a . . . . .    vectors that contain a source run,
//                             . b b b b b b b|. . . . . . . .    which keeps its misalignment
//   2 gather   lane               0 0 0 0 1 1 1 1|2 2 2 2 3 3    A lane gathers 2 or 4 words of a
//   3 store    destination    0 1 . . . . . . . .                destination run and stores them;
//              run                                               run ends, element by element
//
// A lane keeps the offsets of its elements in a run and adds that of each further run. Elements of
// 1 and 2 bytes: destination runs that are neighbours in shared memory are loaded as 4-byte words
// and transposed in registers; if a run is contiguous there, a word comes from two aligned words.
#pragma once
#include <inlay/block/load_ops.h>
#include <inlay/kernels/common/listed.h>
#include <inlay/kernels/copy/copy_tiled_grid.h>

namespace inlay::kernels {

template <class T, class Instance>
struct CopyTiled : CopyTiledGrid<T, Instance::limits.threads> {
  using Grid = CopyTiledGrid<T, Instance::limits.threads>;
  using Grid::E, Grid::U, Grid::threads, Grid::tile;
  using typename Grid::BlockTile, typename Grid::Here, typename Grid::SrcRun, typename Grid::RunGroup;
  using Word = std::conditional_t<(E < 4), uint32_t, T>;  // what a lane stores at once
  static constexpr TileLimits limits = Instance::limits;
  static constexpr LaunchInfo launch_info{.threads = threads, .min_blocks = limits.blocks, .follows = true};
  struct Smem {
    alignas(128) Vector16 tile[limits.bytes / 16];  // the source runs, then the tables
    Vector16 block_tile[sizeof(BlockTile) / 16];
    static void members(auto name) { name("tile", &Smem::tile), name("block_tile", &Smem::block_tile); }
  };

  static CopyTiled make(Copy const& m, auto const& setting) {
    CopyTile t;
    if (Reason const r = tile_of(m, tiling_of(m, setting.device, setting.config), t)) throw Error(r.sentence());
    CopyTiled k{};
    k.describe(m, t);
    return k;
  }

  struct Tables {
    Vector16* src_runs;  // SrcRun
    Vector16* groups;    // RunGroup
    uint32_t* elements;  // Grid::element_offset
  };

  struct Lane {
    int along;  // index of the lane's warp among the warps of one run
    int word;   // first word of the lane within its warp's words
    int group;  // first group of runs
    bool has_runs;
  };

  template <class Block>
  CUTE_DEVICE void operator()(Block block, Smem& smem) const {
    block.griddep_launch_dependents();
    Here const b = this->here(shared_block_tile(block, smem));
    block.griddep_wait();
    char* const base = reinterpret_cast<char*>(smem.tile);
    Tables const tables{reinterpret_cast<Vector16*>(base + tile.src_table),
                        reinterpret_cast<Vector16*>(base + tile.dst_table),
                        reinterpret_cast<uint32_t*>(base + tile.element_table)};
    if (tile.src_table < tile.dst_table) {
      fill<Vector16>(block, tables.src_runs, tile.src_runs,
                     [&](int i) { return as_vectors(this->src_run(b, i)).v[0]; });
      block.sync();
      load(block, smem, b, tables, true_type{});
    } else {
      load(block, smem, b, tables, false_type{});
    }
    // Fills the other tables while the loads are in flight.
    fill<Vector16>(block, tables.groups, tile.table_entries,
                   [&](int i) { return as_vectors(this->run_group(b, i)).v[0]; });
    if (tile.run_modes > 1)
      fill<uint32_t>(block, tables.elements, tile.inner_elements + U, [&](int i) { return this->element_offset(i); });
    Lane const lane = lane_of(int(block.thread_rank()));
    block.cp_async_wait(Int<0>{});
    block.sync();
    char const* const first = base + misalignment(b.src) + b.smem_bytes;  // the tile's first element
    if constexpr (E < 4)
      if (b.has_run_ends()) store_ends(block, first, b, tables);
    if constexpr (E < 4)
      if (tile.is_run_in_smem) return gather<Read::run, false>(block, lane, first, b, tables);
    if (tile.run_modes > 1)
      gather_by<true>(block, lane, first, b, tables);
    else
      gather_by<false>(block, lane, first, b, tables);
  }
  template <bool kLookup, class Block>
  CUTE_DEVICE void gather_by(Block block, Lane const& lane, char const* first, Here const& b,
                             Tables const& tables) const {
    if constexpr (E < 4)
      if (tile.transposes_words) return gather<Read::words, kLookup>(block, lane, first, b, tables);
    gather<Read::elements, kLookup>(block, lane, first, b, tables);
  }
  // One warp computes the block's tile; all threads read it from shared memory.
  template <class Block>
  CUTE_DEVICE BlockTile shared_block_tile(Block block, Smem& smem) const {
    constexpr int kVectors = sizeof(BlockTile) / 16;
    Copy_Atom<On<Block, UniversalCopy<Vector16>>, Vector16> store_atom;
    Copy_Atom<On<Block, LoadShared<Vector16>>, Vector16> load_atom;
    if (int(block.thread_rank()) < 32) {
      auto const vectors = as_vectors(this->block_tile(block.block_index()));
      CUTE_UNROLL
      for (int i = 0; i < kVectors; ++i)
        copy_one(store_atom, block.thread_rank() == 0, &vectors.v[i], make_smem_ptr(smem.block_tile + i));
    }
    block.sync();
    Vector16 vectors[kVectors];
    CUTE_UNROLL
    for (int i = 0; i < kVectors; ++i) copy_one(load_atom, true, make_smem_ptr(smem.block_tile + i), &vectors[i]);
    BlockTile b;
    memcpy(&b, vectors, sizeof b);
    return b;
  }
  CUTE_HOST_DEVICE static int misalignment(char const* p) {
    return E == 16 ? 0 : int(reinterpret_cast<uintptr_t>(p) & 15);
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

  // A thread loads the same vectors of runs that lie runs_at_once apart.
  template <class Block, class Table>
  CUTE_DEVICE void load(Block block, Smem& smem, Here const& b, Tables const& tables, Table) const {
    int run, v;
    this->by_vectors(run, v, int(block.thread_rank()));
    int const runs = run < this->runs_at_once ? b.src_runs : 0;  // the last threads may have no run
    run += b.first_run;
    char* const to = reinterpret_cast<char*>(smem.tile) + misalignment(b.src);
    CUTE_NO_UNROLL
    for (; v < tile.run_vectors; v += threads) {
      if (b.is_inside())
        load_column<Table::value, false>(block, b, tables, to, run, runs, v);
      else
        load_column<Table::value, true>(block, b, tables, to, run, runs, v);
    }
    block.cp_async_fence();
  }
  // Loads vector v of a thread's runs [run, runs). A vector that is partly outside the source is loaded element by
  // element.
  template <bool kTable, bool kEnds, class Block>
  CUTE_DEVICE void load_column(Block block, Here const& b, Tables const& tables, char* smem, int run, int runs,
                               int v) const {
    Copy_Atom<On<Block, LoadAsync>, Vector16> load_atom;
    Copy_Atom<On<Block, LoadShared<Vector16>>, Vector16> table_atom;
    Copy_Atom<On<Block, UniversalCopy<T>>, T> element_atom;
    char const* from = b.src + v * 16 + run * this->src_mode(0).src_bytes;
    char* to = smem + v * 16 + run * this->src_mode(0).smem_bytes;
    CUTE_NO_UNROLL
    for (; run < runs; run += 2 * this->runs_at_once) {
      CUTE_UNROLL
      for (int j = 0; j < 2; ++j) {
        bool on = run + j * this->runs_at_once < runs;
        if constexpr (kTable) {
          Vector16 entry = 0;
          copy_one(table_atom, on, make_smem_ptr(tables.src_runs + (on ? run + j * this->runs_at_once : 0)), &entry);
          SrcRun r;
          memcpy(&r, &entry, sizeof r);
          from = b.src + v * 16 + r.src_bytes, to = smem + v * 16 + r.smem_bytes;
          on = on && r.src_bytes >= 0;
        }
        // Bytes of the first vector that precede the run, the same in the source as in shared memory. Computed for E =
        // 16 too, where it is 0: with addresses that advance by a uniform step alone, ptxas 13.0 encoded an illegal
        // LDGSTS in the kernel for lists.
        int const before = int(reinterpret_cast<uintptr_t>(to) & 15);
        on = on && v * 16 - b.run_bytes < before;
        auto const vector = reinterpret_cast<Vector16 const*>(reinterpret_cast<uintptr_t>(from) & ~uintptr_t(15));
        bool const whole = !kEnds || this->range.holds(reinterpret_cast<char const*>(vector), 16);
        copy_one(load_atom, on && whole, block.gmem(vector), make_smem_ptr(reinterpret_cast<Vector16*>(to - before)));
        if constexpr (kEnds)
          if (on && !whole) CUTE_NO_UNROLL
        for (int i = -before; i < 16 - before; i += E) {
          T e{};
          copy_one(element_atom, this->range.holds(from + i, E), block.gmem(reinterpret_cast<T const*>(from + i)), &e);
          copy_one(element_atom, true, &e, make_smem_ptr(reinterpret_cast<T*>(to + i)));
        }
        if constexpr (!kTable) from += this->src_step, to += this->smem_step;
      }
    }
  }

  // 2^log2_lanes lanes of a warp work along a run, the rest on other runs.
  CUTE_HOST_DEVICE Lane lane_of(int tid) const {
    int const lane = tid % 32;
    int along, group;
    this->by_warps(group, along, tid / 32);
    return {along, lane & ((1 << this->log2_lanes) - 1), (lane >> this->log2_lanes) + (group << (5 - this->log2_lanes)),
            group < this->runs_apart >> (5 - this->log2_lanes)};
  }
  // Offsets in shared memory of n neighbouring elements of a run, from element i on; outside the run, of its nearest
  // elements.
  template <int n, class Block>
  CUTE_DEVICE void find_elements(Block, Tables const& tables, int i, int (&offset)[n]) const {
    Copy_Atom<On<Block, LoadShared<uint32_t>>, uint32_t> atom;
    int const step = this->run_mode(tile.run_modes - 1).smem_bytes, elements = tile.run_elements + tile.skew_elements();
    i = i > elements - n ? elements - n : i;
    i = i < 0 ? 0 : i;
    int outer, inner;
    this->by_inner(outer, inner, i);
    CUTE_UNROLL
    for (int u = 0; u < n; ++u) {
      uint32_t entry;
      copy_one(atom, true, make_smem_ptr(tables.elements + inner + u), &entry);  // the table has U more entries
      offset[u] = outer * step + int(entry);
    }
  }
  template <class Block>
  CUTE_DEVICE RunGroup group_at(Block, Tables const& tables, int i) const {
    Copy_Atom<On<Block, LoadShared<Vector16>>, Vector16> atom;
    Vector16 entry;
    copy_one(atom, true, make_smem_ptr(tables.groups + i), &entry);
    RunGroup g;
    memcpy(&g, &entry, sizeof g);
    return g;
  }
  enum class Read { elements, words, run };
  // kLookup: a table has the offsets of a run's elements; otherwise they have a constant stride.
  template <Read kRead, bool kLookup, class Block>
  CUTE_DEVICE void gather(Block block, Lane const& lane, char const* first, Here const& b, Tables const& tables) const {
    constexpr bool kWords = kRead == Read::words;
    constexpr int L = kWords ? U : 1, K = CopyTile::stores_per_lane(E, kWords);
    Copy_Atom<On<Block, UniversalCopy<Word>>, Word> store_atom;
    if (!lane.has_runs) return;
    CUTE_NO_UNROLL
    for (int pass = lane.along; pass < tile.passes; pass += this->warps_along) {
      int const x = (pass * K << this->log2_lanes) + lane.word;
      int offset[K][kLookup ? U : 1], found_for = -1;
      if constexpr (!kLookup) {
        CUTE_UNROLL
        for (int k = 0; k < K; ++k) {
          int const word = x + (k << this->log2_lanes), last = tile.run_words - 1;
          offset[k][0] = (word < last ? word : last) * U * this->run_mode(0).smem_bytes;
        }
      }
      CUTE_NO_UNROLL
      for (int y = lane.group; y < tile.table_entries; y += this->runs_apart) {
        RunGroup const g = group_at(block, tables, y);
        if constexpr (kLookup)
          if (g.misaligned() != found_for) {
            found_for = g.misaligned();
            CUTE_UNROLL
            for (int k = 0; k < K; ++k)
              find_elements<U>(block, tables, (x + (k << this->log2_lanes)) * U - found_for, offset[k]);
          }
        bool on[K];
        CUTE_UNROLL
        for (int k = 0; k < K; ++k)
          on[k] = unsigned(x - g.first_word() + (k << this->log2_lanes)) < unsigned(g.words());
        Word r[K][L];
        // If all lanes may load words that they do not store, no load needs a branch.
        if (U > 1 && tile.run_elements >= U && block.all(g.is_all_loaded())) {
          CUTE_UNROLL
          for (int k = 0; k < K; ++k) read<kRead, kLookup>(block, true, offset[k], first + g.smem_bytes(), r[k]);
        } else {
          CUTE_UNROLL
          for (int k = 0; k < K; ++k) read<kRead, kLookup>(block, on[k], offset[k], first + g.smem_bytes(), r[k]);
        }
        CUTE_UNROLL
        for (int n = 0; n < L; ++n) {
          auto to = reinterpret_cast<Word*>(b.dst + g.dst_bytes + n * this->dst_mode(0).dst_bytes) + x;
          CUTE_UNROLL
          for (int k = 0; k < K; ++k, to += 1 << this->log2_lanes)
            copy_one(store_atom, on[k] && (L == 1 || n < g.count()), &r[k][n], block.gmem(to));
        }
      }
    }
  }
  // Reads a word of each of L runs.
  template <Read kRead, bool kLookup, class Block, int P, int L>
  CUTE_DEVICE void read(Block, bool on, int const (&offset)[P], char const* smem, Word (&r)[L]) const {
    using One = std::conditional_t<kRead == Read::elements, T, Word>;
    Copy_Atom<On<Block, LoadExtended<One>>, One> atom;
    if constexpr (kRead == Read::run) {
      char const* const from = smem + offset[0];
      int const misaligned = int(reinterpret_cast<uintptr_t>(from) & 3);
      auto const pair = reinterpret_cast<Word const*>(from - misaligned);
      Word lo{}, hi{};
      copy_one(atom, on, make_smem_ptr(pair), &lo);
      copy_one(atom, on && misaligned, make_smem_ptr(pair + 1), &hi);
      r[0] = funnel_shift_right(lo, hi, unsigned(misaligned * 8));
    } else {
      Word e[U]{};  // initialised: otherwise a predicated load depends on the previous one
      CUTE_UNROLL
      for (int u = 0; u < U; ++u) {
        int const at = kLookup ? offset[u] : offset[0] + u * this->run_mode(0).smem_bytes;
        copy_one(atom, on, make_smem_ptr(reinterpret_cast<One const*>(smem + at)), &e[u]);
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
  // Stores the elements at both ends of runs that fill no word. Of eight lanes, lanes 0 to 3 store
  // those before the first whole word, lanes 4 to 7 those after the last.
  template <class Block>
  CUTE_DEVICE void store_ends(Block block, char const* first, Here const& b, Tables const& tables) const {
    Copy_Atom<On<Block, UniversalCopy<T>>, T> atom;
    Copy_Atom<On<Block, LoadShared<T>>, T> load_atom;
    int const tid = int(block.thread_rank()), x = tid % 8;
    CUTE_NO_UNROLL
    for (int y0 = tid / 32 * 4; y0 < tile.table_entries; y0 += threads / 8) {
      int const y = y0 + tid % 32 / 8;
      RunGroup const g = group_at(block, tables, y < tile.table_entries ? y : y0);
      int const from = x < 4 ? (g.first_word() - 1) * U + g.begin() : (g.first_word() + g.words()) * U;
      int const i = from + x % 4;  // elements from word 0 on
      int offset[1];
      if (tile.run_modes > 1)
        find_elements<1>(block, tables, i - g.misaligned(), offset);
      else
        offset[0] = i * this->run_mode(0).smem_bytes;
      CUTE_NO_UNROLL
      for (int n = 0; n < (tile.transposes_words ? U : 1); ++n) {
        T e{};
        bool const on = x % 4 < (x < 4 ? g.head() : g.tail()) && n < g.count() && y < tile.table_entries;
        if (!block.any(on)) break;
        copy_one(load_atom, on, make_smem_ptr(reinterpret_cast<T const*>(first + g.smem_bytes() + offset[0]) + n), &e);
        auto const to = reinterpret_cast<T*>(b.dst + g.dst_bytes + n * this->dst_mode(0).dst_bytes) + i;
        copy_one(atom, on, &e, block.gmem(to));
      }
    }
  }

  // The tiling of a widened copy: as configured, or the one that is predicted to be the fastest.
  static Tiling tiling_of(Copy const& m, Device const& device, Config const& config) {
    return config.tiling.modes ? config.tiling : best_tiling(m, limits, device).tiling;
  }
  // Describes the tile of this kernel's blocks in `t`, or returns why the kernel cannot run.
  static Reason tile_of(Copy const& m, Tiling const& tiling, CopyTile& t) {
    if (tiling.modes == 0)
      return {"no tile of {} bytes has runs that are contiguous in the destination", {limits.bytes}};
    if (Reason r = describe_tile(m, tiling, threads, t)) return r;
    if (t.smem_bytes > limits.bytes) return {"a tile of {} bytes is more than {}", {t.smem_bytes, limits.bytes}};
    for (int i = 0; i < t.grid_modes; ++i)
      if (std::int64_t const tiles = t.grid_mode[i].tiles; tiles > INT32_MAX)
        return {"{} tiles along a mode are more than a grid holds", {tiles}, tiles / INT32_MAX + 1};
    return too_many("{} tiles are more blocks than a grid holds", t.blocks(), 1, {t.blocks(), 0, 0});
  }
  static double seconds(Copy const& m, Device const& device, Config const& config) {
    CopyTile t;
    if (tile_of(m, tiling_of(m, device, config), t)) return HUGE_VAL;
    return model::seconds_of(work_of(m, t, limits), device);
  }
  static Reason rejects(Copy const& m, Device const& device, Config const& config) {
    CopyTile t;
    return tile_of(m, tiling_of(m, device, config), t);
  }
};

// ---- the instances of kernels.def

struct Tiles16K {
  static constexpr TileLimits limits{.threads = 128, .bytes = 20 << 10, .blocks = 8};
  static constexpr char const* idea =
      "Any layout to any other through tiles of 16 KB in shared memory: source runs are loaded by cp.async, "
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
using Dispatch = Listable<ByWidenedElement<Family<Instance>::template Kernel>>;
template <class Instance>
Config best_config(Copy const& copy, Device const& device) {
  return {best_tiling(copy.widened(), Instance::limits, device).tiling};
}
template <class Instance>
constexpr Info<Copy> info(char const* name) {
  return {.name = name,
          .idea = Instance::idea,
          .source = "inlay",
          .ladder = Ladder::none,
          .origin = Origin::ours,
          .rejects = rejects_wide<Family<Instance>::template Kernel>,
          .seconds = seconds_wide<Family<Instance>::template Kernel>,
          .choose = best_config<Instance>,
          .limits = &Instance::limits,
          .takes_lists = true};
}
}  // namespace copy_tiled

}  // namespace inlay::kernels
