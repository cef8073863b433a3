// Sheared stores for elements of 1 and 2 bytes: rows are read in aligned vectors, realigned and turned in registers, and
// rows of the output are realigned once more when they leave shared memory. Words of 4 bytes hold k = 4 or 2 elements.
#pragma once
#include "block/load_ops.h"
#include "block/register_ops.h"
#include "kernels/sheared_tile.h"

namespace inlay::kernels {

template <class T, class Step>
struct RealignedTile : ShearedGrid<T, typename Step::Tile> {
  using Grid = ShearedGrid<T, typename Step::Tile>;
  static constexpr int BLK_M = Grid::BLK_M, BLK_N = Grid::BLK_N, ROWS = Grid::ROWS, SHEAR = Grid::SHEAR;
  static constexpr int threads = Step::threads, min_blocks = Step::min_blocks, blocks_per_sm = Step::blocks_per_sm;
  static constexpr int k = PerWord<T>, V = 16 / sizeof(T);
  static constexpr int WORDS = ROWS / k, VECTORS = BLK_N / V, CHUNKS = BLK_M / V;
  static constexpr int PASS = threads / VECTORS;  // word rows that the block loads at a time
  static constexpr int UNITS = WORDS / PASS;      // of a thread: k rows of one vector

  // A warp loads 4 word rows of 8 vectors. Column c is element c % V of vector c / V; equal elements of neighbouring
  // vectors are neighbours in shared memory, an odd number of 16-byte chunks apart: 8 x 4 lanes meet 32 banks when they
  // store a word each, and 8 neighbouring chunks of a column do when they are loaded.
  static constexpr int LANES = 8, DOWN = 32 / LANES;  // of a warp along a row, and rows of them
  static_assert(VECTORS % 8 == 0 && UNITS * PASS == WORDS && PASS % DOWN == 0);
  static constexpr int PITCH = (WORDS / DOWN | 1) * DOWN;
  using SmemLayout = Layout<Shape<Int<PITCH>, Shape<Int<V>, Int<VECTORS>>>,
                            Stride<_1, Stride<Int<PITCH * VECTORS>, Int<PITCH>>>>;  // (words of a column,(c % V,c / V))
  struct Smem {
    alignas(128) uint32_t A[cosize_v<SmemLayout>];
  };

  template <class Encoder>
  static RealignedTile make(Move const& move, Encoder const&) {
    return {Grid::make(move)};
  }

  template <class Block>
  CUTE_DEVICE void operator()(Block block, Smem& smem) const {
    auto here = this->tile(block.group_index());
    // Vectors reach up to 15 bytes before the tile and 16 behind it: still this row's, or, where rows follow each other
    // without a gap, some row's?
    bool const full = here.rows_full() && here.n > 0 && here.n + BLK_N + V <= this->N;
    if (full) {
      load<UNITS>(block, here, smem, 0, [](int, Vector16 const*) { return true; });
    } else {
      auto const inside = [&](int row, Vector16 const* vector) {
        return row >= here.first && row < here.last && whole(here, row, vector);
      };
      CUTE_NO_UNROLL
      for (int u = 0; u < UNITS; ++u) load<1>(block, here, smem, u, inside);
    }
    block.sync();
    // Rows without a gap end in one another, but for the first and the last.
    bool const gap = this->ld_in != this->N, corner = here.m == 0 || here.m + BLK_M >= this->M;
    if (!full && (gap || corner)) {
      if (here.n == 0) patch_ends(block, here, smem, 0);
      if (here.n + BLK_N > this->N - V) patch_ends(block, here, smem, this->N - V);
      block.sync();
    }
    if (here.rows_full() && here.cols == BLK_N)
      store(block, here, smem, true_type{});
    else
      store(block, here, smem, false_type{});
  }

  // Whether all 16 bytes are elements of the source.
  template <class Here>
  CUTE_HOST_DEVICE bool whole(Here const& here, int row, Vector16 const* vector) const {
    bool const gap = this->ld_in != this->N;
    T const* const begin = gap ? here.row0 + row * this->ld_in - here.n : this->in + here.l * this->batch_in;
    T const* const end = begin + (gap ? this->N : this->M * this->N);
    auto const p = reinterpret_cast<T const*>(vector);
    return p >= begin && p + V <= end;
  }

  // COUNT of a thread's units from unit u0 on: all loads first. inside(row, p): whether the 16 bytes at p may be read for
  // this row.
  template <int COUNT, class Block, class Here, class Inside>
  CUTE_DEVICE void load(Block block, Here const& here, Smem& smem, int u0, Inside inside) const {
    Copy_Atom<On<Block, typename Step::Load>, Vector16> load_atom;
    Copy_Atom<On<Block, UniversalCopy<uint32_t>>, uint32_t> store_atom;
    constexpr int across = VECTORS / LANES;  // warps
    int const tid = block.thread_rank(), warp = tid / 32;
    int const vector = tid % LANES + warp % across * LANES, word0 = tid % 32 / LANES + warp / across * DOWN + u0 * PASS;
    T const* const mine = here.row0 + int64_t(word0 * k) * this->ld_in + vector * V;
    uint32_t* const to = smem.A + SmemLayout{}(word0, make_coord(0, vector));
    // Alignment is a matter of the low bits: the addresses themselves are not kept.
    unsigned const low = unsigned(reinterpret_cast<uintptr_t>(mine)), ld_low = unsigned(this->ld_in * sizeof(T));
    Vector16 raw[COUNT][k][2];
    CUTE_UNROLL
    for (int u = 0; u < COUNT; ++u) CUTE_UNROLL
    for (int i = 0; i < k; ++i) {
      auto const p = reinterpret_cast<uintptr_t>(mine + (u * PASS * k + i) * this->ld_in) & ~uintptr_t(15);
      CUTE_UNROLL
      for (int j = 0; j < 2; ++j) {
        auto const from = reinterpret_cast<Vector16 const*>(p) + j;
        copy_one(load_atom, inside((word0 + u * PASS) * k + i, from), make_gmem_ptr(from), &raw[u][i][j]);
      }
    }
    CUTE_UNROLL
    for (int u = 0; u < COUNT; ++u) {
      uint32_t word[k][4];
      CUTE_UNROLL
      for (int i = 0; i < k; ++i) realign(raw[u][i][0], raw[u][i][1], low + (u * PASS * k + i) * ld_low, word[i]);
      CUTE_UNROLL
      for (int j = 0; j < 4; ++j) {
        uint32_t square[k];
        CUTE_UNROLL
        for (int i = 0; i < k; ++i) square[i] = word[i][j];
        transpose_words(square);
        CUTE_UNROLL
        for (int c = 0; c < k; ++c)
          copy_one(store_atom, true, &square[c], make_smem_ptr(to + SmemLayout{}(u * PASS, make_coord(j * k + c, 0))));
      }
    }
  }

  // At the two ends of a row, elements share their 16 bytes with what is not the row's: V columns from `from` on, one
  // element at a time, where no vector was whole.
  template <class Block, class Here>
  CUTE_DEVICE void patch_ends(Block block, Here const& here, Smem& smem, int64_t from) const {
    Copy_Atom<On<Block, UniversalCopy<T>>, T> atom;
    T* const elements = reinterpret_cast<T*>(smem.A);
    constexpr int passes = (ROWS * V + threads - 1) / threads;
    T r[passes];
    bool patched[passes];
    CUTE_UNROLL
    for (int i = 0; i < passes; ++i) {
      int const row = (block.thread_rank() + i * threads) / V;
      int64_t const n = from + (block.thread_rank() + i * threads) % V;
      T const* const begin = here.row0 + row * this->ld_in - here.n;
      auto const vector = reinterpret_cast<Vector16 const*>(reinterpret_cast<uintptr_t>(begin + n) & ~uintptr_t(15));
      patched[i] =
          !whole(here, row, vector) && row >= here.first && row < here.last && n >= here.n && n < here.n + here.cols;
      copy_one(atom, patched[i], make_gmem_ptr(begin + n), &r[i]);
    }
    CUTE_UNROLL
    for (int i = 0; i < passes; ++i) {
      int const row = (block.thread_rank() + i * threads) / V;
      int const c = int(from + (block.thread_rank() + i * threads) % V - here.n);
      int const to = patched[i] ? SmemLayout{}(row / k, make_coord(c % V, c / V)) * k + row % k : 0;
      copy_one(atom, patched[i], &r[i], make_smem_ptr(elements + to));
    }
  }

  static constexpr int COLUMNS = threads / CHUNKS;  // that the block stores at a time
  template <class Block, class Here>
  CUTE_DEVICE void store(Block block, Here const& here, Smem& smem, true_type full) const {
    CUTE_UNROLL
    for (int i = 0; i < BLK_N; i += COLUMNS) store_chunk(block, here, smem, i, full);
  }
  template <class Block, class Here>
  CUTE_DEVICE void store(Block block, Here const& here, Smem& smem, false_type ragged) const {
    CUTE_NO_UNROLL
    for (int i = 0; i < BLK_N; i += COLUMNS) store_chunk(block, here, smem, i, ragged);
  }
  // A chunk of one of the columns from place `first_place` on. At the edges: whole, or element by element.
  template <class Block, class Here, class Full>
  CUTE_DEVICE void store_chunk(Block block, Here const& here, Smem& smem, int first_place, Full) const {
    Copy_Atom<On<Block, LoadShared<Vector16>>, Vector16> load_atom;
    Copy_Atom<On<Block, UniversalCopy<Vector16>>, Vector16> atom;
    Copy_Atom<On<Block, UniversalCopy<T>>, T> one;
    int const chunk = block.thread_rank() % CHUNKS, place = first_place + block.thread_rank() / CHUNKS;
    int const c = place % VECTORS * V + place / VECTORS;
    bool const mine = BLK_N % COLUMNS == 0 || place < BLK_N;
    int const s = this->shear(here, c), ahead = (SHEAR - s) * int(sizeof(T));  // bytes of the column before the first
    auto const from = reinterpret_cast<Vector16 const*>(smem.A + place * PITCH) + (ahead / 16 + chunk);
    Vector16 lo{}, hi{};
    uint32_t word[4];
    copy_one(load_atom, mine, make_smem_ptr(from), &lo);
    copy_one(load_atom, mine && ahead % 16 != 0, make_smem_ptr(from + 1), &hi);
    realign(lo, hi, unsigned(ahead), word);
    Vector16 const out = join(word);
    T* const to = here.out + c * this->ld_out - s + chunk * V;
    int const m = chunk * V - s;  // from the tile's place; [first, last) of it is in the matrix
    int const first = here.first - SHEAR, last = here.last - SHEAR;
    bool const whole = Full{} ? mine : mine && c < here.cols && m >= first && m + V <= last;
    copy_one(atom, whole, &out, make_gmem_ptr(reinterpret_cast<Vector16*>(to)));
    if constexpr (!Full{}) {
      bool const ragged = mine && !whole && c < here.cols;
      CUTE_UNROLL
      for (int x = 0; x < V; ++x) {
        T const e = T(word[x / k] >> x % k * sizeof(T) * 8);
        copy_one(one, ragged && m + x >= first && m + x < last, &e, make_gmem_ptr(to + x));
      }
    }
  }

  static Reason rejects(Move const& move, Device const& device) {
    if (Reason r = Grid::rejects(move, device)) return r;
    auto const x = *Grid::matrices(move);
    constexpr int64_t least = 4 * V;  // the two ends of a row or column have nothing to do with one another
    if (x.M < least || x.N < least)
      return {"a matrix of {} x {} elements has rows or columns of fewer than {}", {x.M, x.N, least}};
    return {};
  }

  // Alignment is the same in all tiles of a matrix: they differ by which edges are theirs.
  static Cost cost(Move const& move) {
    constexpr int E = sizeof(T);
    auto const kernel = make(move, nullptr);
    int64_t const tiles_m = kernel.tiles_m, tiles_n = kernel.tiles_n;
    Cost sum;
    over_phases(kernel.batch, kernel.batch_in * E, kernel.batch_out * E, [&](int64_t l, int64_t matrices) {
      over_tiles(tiles_n, [&](int64_t n, int64_t across) {
        over_tiles(tiles_m, [&](int64_t m, int64_t down) {
          int64_t const band = (n + 1) % tiles_n;  // the last columns come first
          auto const here = kernel.tile(uint32_t((l * tiles_n + band) * tiles_m + m));
          Cost tile;
          kernel.add_loads(tile, here);
          if (here.n == 0) kernel.add_patches(tile, here, 0);
          if (here.n + BLK_N > kernel.N - V) kernel.add_patches(tile, here, kernel.N - V);
          kernel.add_stores(tile, here);
          add(sum, tile, matrices * across * down);
        });
      });
    });
    return sum;
  }
  template <class Here>
  void add_loads(Cost& c, Here const& here) const {
    for (int w0 = 0; w0 < WORDS; w0 += DOWN)
      for (int v0 = 0; v0 < VECTORS; v0 += LANES)
        for (int i = 0; i < 2 * k; ++i)
          c.global_load += sectors(16, [&](unsigned t) -> LaneAddress {
            int const row = (w0 + int(t) / LANES) * k + i / 2;
            if (row < here.first || row >= here.last) return {};
            auto const p =
                reinterpret_cast<uintptr_t>(here.row0 + row * this->ld_in + (v0 + int(t) % LANES) * V) / 16 + i % 2;
            return whole(here, row, reinterpret_cast<Vector16 const*>(p * 16)) ? LaneAddress(p * 16) : std::nullopt;
          });
    constexpr int64_t requests = WORDS * BLK_N / 32;  // whole tiles, without a conflict
    c.shared_store += {requests, requests};
  }
  template <class Here>
  void add_patches(Cost& c, Here const& here, int64_t from) const {
    constexpr int E = sizeof(T);
    for (int e0 = 0; e0 < ROWS * V; e0 += 32) {
      auto const patched = [&](unsigned t, bool shared) -> LaneAddress {
        int const row = (e0 + int(t)) / V;
        int64_t const n = from + (e0 + int(t)) % V;
        auto const p = reinterpret_cast<uintptr_t>(here.row0 + row * this->ld_in - here.n + n);
        bool const on = row >= here.first && row < here.last && n >= here.n && n < here.n + here.cols;
        if (!on || whole(here, row, reinterpret_cast<Vector16 const*>(p / 16 * 16))) return {};
        int const col = int(n - here.n);
        return shared ? uint64_t(SmemLayout{}(row / k, make_coord(col % V, col / V)) * k + row % k) * E : p;
      };
      c.global_load += sectors(E, [&](unsigned t) { return patched(t, false); });
      c.shared_store += wavefronts(E, banks::Access::store, [&](unsigned t) { return patched(t, true); });
    }
  }
  // By columns: a lane's chunk is whole, or ragged at one end of the output's row, or outside.
  template <class Here>
  void add_stores(Cost& c, Here const& here) const {
    for (int p0 = 0; p0 < BLK_N; p0 += 32 / CHUNKS) {
      bool any_whole = false;
      unsigned ragged = 0;  // elements of a chunk that some lane stores by themselves
      for (int place = p0; place < p0 + 32 / CHUNKS; ++place) {
        int const col = place % VECTORS * V + place / VECTORS, s = this->shear(here, col);
        int const first = std::max(here.first - SHEAR + s, 0), last = std::min(here.last - SHEAR + s, BLK_M);
        if (col >= here.cols || first >= last) continue;
        int const chunk = ceil_div(first, V), chunks = last / V - chunk;
        if (chunks > 0) any_whole = true, c.global_store.transactions += sectors_of(chunk * 16, chunks * 16);
        unsigned const head = first % V ? (1u << V) - (1u << first % V) : 0, tail = (1u << last % V) - 1;
        ragged |= head | tail;
        c.global_store.transactions += std::popcount(head) + std::popcount(tail);
      }
      c.global_store.requests += any_whole + std::popcount(ragged);
      // Columns that share a request lie alike modulo 16 bytes: all or none need a second chunk. No conflict.
      int const chunks = this->shear(here, p0 % VECTORS * V + p0 / VECTORS) % V ? 2 : 1;
      c.shared_load += {chunks, 4 * chunks};
    }
  }
};

}  // namespace inlay::kernels
