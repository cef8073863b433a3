// Transposes of 1- and 2-byte elements with any pitch and base address: aligned 16-byte loads, and stores with an
// alignment skew, which begin on sectors (skewed_tile.h). Data is realigned in registers twice: before and after shared
// memory.
//
// A 4-byte word holds k elements, a 16-byte vector V: 2 and 8 in this picture, 4 and 16 for 1-byte elements. A thread
// processes units of k rows by V columns:
//
//   1 load       row m      |. . . . a a a a|a a a a . . . .|  The unit's 16 bytes begin `first` bytes into an aligned
//                row m + 1  |. . . . . . b b|b b b b b b . .|  vector: the thread loads this vector and the next.
//   2 realign    row m      |a0 a1|a2 a3|a4 a5|a6 a7|          A funnel shift for each word drops these bytes.
//                row m + 1  |b0 b1|b2 b3|b4 b5|b6 b7|
//   3 transpose  k x k      |a0 b0|a1 b1|a2 b2|a3 b3|...       Now a word is k rows of one column.
//   4 shared     column c   |. . . . . . . a1 b1 . . . . . . .|  Its ROWS elements are contiguous, first row first:
//                           |<- SKEW ->|<----- BLK_M ------->|  SKEW rows above the tile's origin, BLK_M below.
//   5 store      row c           |<----- BLK_M ------->|         Row c of the output stores BLK_M of them.
//                                |<- s->|                        It begins s < SKEW rows early, on a sector: two
//                                                                vectors, a realignment, and a store of 16 bytes again.
//
// realigned_grid.h computes these addresses and has an example in numbers.
#pragma once
#include <inlay/block/load_ops.h>
#include <inlay/block/register_ops.h>
#include <inlay/kernels/copy/realigned_grid.h>

namespace inlay::kernels {

template <class T, class Step>
struct RealignedTile : RealignedGrid<T, typename Step::Tile, Step::threads> {
  static constexpr bool takes_any_alignment = true;  // each tile looks at its addresses
  using Grid = RealignedGrid<T, typename Step::Tile, Step::threads>;
  using Grid::aligned, Grid::column_of, Grid::element_of, Grid::end_element, Grid::over_ends, Grid::readable,
      Grid::row_begin, Grid::rows_below, Grid::unit, Grid::whole, Grid::window_byte;
  using Grid::BLK_M, Grid::BLK_N, Grid::CHUNKS, Grid::COLUMNS, Grid::E, Grid::k, Grid::PASS, Grid::PATCHES, Grid::PITCH,
      Grid::SKEW, Grid::UNITS, Grid::V;
  using typename Grid::Here, typename Grid::SmemLayout, typename Grid::Unit;
  static constexpr LaunchInfo launch_info{
      .threads = Step::threads, .min_blocks = Step::min_blocks, .blocks_per_sm = Step::blocks_per_sm, .follows = true};
  struct Smem {
    alignas(128) uint32_t A[cosize_v<SmemLayout>];
    static void members(auto name) { name("A", &Smem::A); }
  };

  static double seconds(Copy const& copy, Device const& device) {
    // Tiles at the ends of rows load one unit after the other.
    double const ends = std::min(1., 2. / double(Grid::tiles_along_n(*Grid::Grid::matrices(copy))));
    return Grid::Grid::seconds(copy, device, Step::threads, 110, 4.6, E == 1 ? 1 + .3 * ends : 1);
  }

  template <class Block>
  CUTE_DEVICE void operator()(Block block, Smem& smem) const {
    block.griddep_launch_dependents();
    auto const here = this->tile(block.block_index());
    // Loads reach 15 bytes before the tile and 16 behind it. full: these are elements of the row.
    bool const full = here.rows_full() && here.n > 0 && here.n + BLK_N + V <= this->N;
    block.griddep_wait();
    if (full) {
      load<UNITS>(block, here, smem, 0, [](int, Vector16 const*) { return true; });
    } else {
      CUTE_NO_UNROLL
      for (int u = 0; u < UNITS; ++u)
        load<1>(block, here, smem, u, [&](int row, Vector16 const* vector) { return readable(here, row, vector); });
    }
    block.sync();
    // If rows have no gaps, only the first and the last row have ends.
    bool const gap = this->ld_in != this->N, corner = here.m == 0 || here.m + BLK_M >= this->M;
    if (!full && (gap || corner)) {
      over_ends(here, [&](int64_t from) { patch(block, here, smem, from); });
      block.sync();
    }
    if (here.rows_full() && here.cols == BLK_N) {
      CUTE_UNROLL
      for (int slot0 = 0; slot0 < BLK_N; slot0 += COLUMNS) store_chunk(block, here, smem, slot0, true_type{});
    } else {
      CUTE_NO_UNROLL
      for (int slot0 = 0; slot0 < BLK_N; slot0 += COLUMNS) store_chunk(block, here, smem, slot0, false_type{});
    }
  }

  // Steps 1 to 4 for COUNT units from number u0 on. All loads are issued first, so that all are in flight at once.
  // inside(row, p): whether the 16 bytes at p may be read for this row.
  template <int COUNT, class Block, class Inside>
  CUTE_DEVICE void load(Block block, Here const& here, Smem& smem, int u0, Inside inside) const {
    Copy_Atom<On<Block, typename Step::Load>, Vector16> load_atom;
    Copy_Atom<On<Block, UniversalCopy<uint32_t>>, uint32_t> store_atom;
    Unit const mine = unit(block.thread_rank(), u0);
    T const* const from = here.row0 + int64_t(mine.word * k) * this->ld_in + mine.vector * V;
    uint32_t* const to = smem.A + SmemLayout{}(mine.word, make_coord(0, mine.vector));
    // Realigning needs only the low bits of the addresses: the addresses are not kept in registers.
    unsigned const low = unsigned(reinterpret_cast<uintptr_t>(from)), ld_low = unsigned(this->ld_in * E);
    Vector16 raw[COUNT][k][2];  // (unit,row,vector)
    CUTE_UNROLL
    for (int u = 0; u < COUNT; ++u) CUTE_UNROLL
    for (int i = 0; i < k; ++i) {
      Vector16 const* const pair = aligned(from + rows_below(u, i) * this->ld_in);
      CUTE_UNROLL
      for (int j = 0; j < 2; ++j)
        copy_one(load_atom, inside(mine.word * k + rows_below(u, i), pair + j), block.gmem(pair + j), &raw[u][i][j]);
    }
    CUTE_UNROLL
    for (int u = 0; u < COUNT; ++u) {
      uint32_t word[k][4];  // (row,word)
      CUTE_UNROLL
      for (int i = 0; i < k; ++i) realign(raw[u][i][0], raw[u][i][1], low + rows_below(u, i) * ld_low, word[i]);
      CUTE_UNROLL
      for (int j = 0; j < 4; ++j) {
        uint32_t square[k];  // (row) -> (column)
        CUTE_UNROLL
        for (int i = 0; i < k; ++i) square[i] = word[i][j];
        transpose_words(square);
        CUTE_UNROLL
        for (int c = 0; c < k; ++c)
          copy_one(store_atom, true, &square[c], make_smem_ptr(to + SmemLayout{}(u * PASS, j * k + c)));
      }
    }
  }

  // Loads the elements at one end of the rows that no whole vector contains, one by one.
  template <class Block>
  CUTE_DEVICE void patch(Block block, Here const& here, Smem& smem, int64_t from) const {
    Copy_Atom<On<Block, UniversalCopy<T>>, T> atom;
    T r[PATCHES];
    bool on[PATCHES];
    CUTE_UNROLL
    for (int i = 0; i < PATCHES; ++i) {
      auto const [row, n] = end_element(from, block.thread_rank(), i);
      T const* const p = row_begin(here, row) + n;
      on[i] = !whole(here, row, aligned(p)) && row >= here.first && row < here.last && n >= here.n &&
              n < here.n + here.cols;
      copy_one(atom, on[i], block.gmem(p), &r[i]);
    }
    CUTE_UNROLL
    for (int i = 0; i < PATCHES; ++i) {
      auto const [row, n] = end_element(from, block.thread_rank(), i);
      int const to = on[i] ? element_of(row, int(n - here.n)) : 0;
      copy_one(atom, on[i], &r[i], make_smem_ptr(reinterpret_cast<T*>(smem.A) + to));
    }
  }

  // Step 5 for one vector of one of the COLUMNS columns from slot0 on. A vector that is partly outside the matrix is
  // stored element by element.
  template <class Block, class Full>
  CUTE_DEVICE void store_chunk(Block block, Here const& here, Smem& smem, int slot0, Full) const {
    Copy_Atom<On<Block, LoadShared<Vector16>>, Vector16> load_atom;
    Copy_Atom<On<Block, UniversalCopy<Vector16>>, Vector16> atom;
    Copy_Atom<On<Block, UniversalCopy<T>>, T> one;
    int const chunk = block.thread_rank() % CHUNKS, slot = slot0 + block.thread_rank() / CHUNKS;
    int const c = column_of(slot);
    bool const mine = BLK_N % COLUMNS == 0 || slot < BLK_N;
    int const s = this->skew(here, c), begin = window_byte(s);
    auto const from = reinterpret_cast<Vector16 const*>(smem.A + slot * PITCH) + (begin / 16 + chunk);
    Vector16 lo{}, hi{};
    uint32_t word[4];
    copy_one(load_atom, mine, make_smem_ptr(from), &lo);
    copy_one(load_atom, mine && begin % 16 != 0, make_smem_ptr(from + 1), &hi);
    realign(lo, hi, unsigned(begin), word);
    Vector16 const out = join(word);
    T* const to = here.out + c * this->ld_out - s + chunk * V;
    int const m =
        chunk * V - s;  // first row of the vector, from the tile's origin; rows [first, last) lie in the matrix
    int const first = here.first - SKEW, last = here.last - SKEW;
    bool const complete = Full{} ? mine : mine && c < here.cols && m >= first && m + V <= last;
    copy_one(atom, complete, &out, block.gmem(reinterpret_cast<Vector16*>(to)));
    if constexpr (!Full{}) {
      bool const ragged = mine && !complete && c < here.cols;
      CUTE_UNROLL
      for (int x = 0; x < V; ++x) {
        T const e = T(word[x / k] >> x % k * E * 8);
        copy_one(one, ragged && m + x >= first && m + x < last, &e, block.gmem(to + x));
      }
    }
  }

  static RealignedTile make(Copy const& copy, auto const&) { return {Grid::make(copy)}; }
  static Reason rejects(Copy const& copy, Device const& device) {
    if (Reason r = Grid::rejects(copy, device)) return r;
    auto const& x = *Grid::matrices(copy);
    constexpr int64_t least = 4 * V;  // the two ends of a row or column do not overlap
    if (x.M < least || x.N < least)
      return {"a matrix of {} x {} elements has rows or columns of fewer than {}", {x.M, x.N, least}};
    return {};
  }
};

}  // namespace inlay::kernels
