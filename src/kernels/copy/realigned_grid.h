// The addresses of RealignedTile's elements in the input, in shared memory and in the output. realigned_tile.h has a
// picture of the scheme; this file has its numbers.
//
// Example: 10007 x 10009 elements of 2 bytes, no padding, both bases at byte 0: pitches 10009 and 10007. The tile of
// 128 x 128 at m = n = 128 reads from row 128 - SKEW = 112 on. Thread 75 of 384 and its first unit:
//   unit      word row 5 of vector 3: rows 122 and 123 (112 + 5 k on), columns 152 to 159 (128 + 3 V on)
//   load      row 122 at byte (122 * 10009 + 152) * 2 = 2442500: the vectors at 2442496 and 2442512, first = 4
//             row 123 at byte 2442500 + 20018 = 2462518: the vectors at 2462512 and 2462528, first = 6
//   shared    column 153 is c = 25, element 1 of vector 3, in slot 1 * VECTORS + 3 = 19: word 19 * PITCH + 5 = 1449
//   store     row 153 of the output has m = 128 at byte (153 * 10007 + 128) * 2 = 3062398, 30 bytes into a sector:
//             s = 15. Its window begins with row 113, byte 2 of slot 19. Thread 305 has chunk 1 of it, rows 121 to 128:
//             it loads the vectors at bytes 16 and 32 of the slot, first = 2, and stores at 3062368 + 16 = 3062384.
#pragma once
#include <inlay/kernels/copy/skewed_tile.h>

namespace inlay::kernels {

template <class T, class Tile, int kThreads>
struct RealignedGrid : SkewedGrid<T, Tile> {
  using Grid = SkewedGrid<T, Tile>;
  using Here = typename Grid::Here;
  static constexpr int BLK_M = Grid::BLK_M, BLK_N = Grid::BLK_N, ROWS = Grid::ROWS, SKEW = Grid::SKEW;
  static constexpr int E = sizeof(T), threads = kThreads;
  static constexpr int k = PerWord<T>, V = 16 / E;             // elements of a 4-byte word, of a 16-byte vector
  static constexpr int WORDS = ROWS / k, VECTORS = BLK_N / V;  // of a column, of a row of the tile
  static constexpr int PASS = threads / VECTORS, UNITS = WORDS / PASS;  // word rows of a pass; units of a thread
  static constexpr int CHUNKS = BLK_M / V,
                       COLUMNS = threads / CHUNKS;             // vectors of an output run; columns stored at once
  static constexpr int PATCHES = ceil_div(ROWS * V, threads);  // elements of a thread at one end of the input rows

  // A warp loads DOWN word rows of LANES vectors. The pitch between columns in shared memory is an odd number of
  // 16-byte vectors: the words that 8 x 4 lanes store lie in 32 different banks, and so do 8 neighbouring vectors of a
  // column when they are loaded.
  static constexpr int LANES = 8, DOWN = 32 / LANES;
  static_assert(VECTORS % LANES == 0 && UNITS * PASS == WORDS && PASS % DOWN == 0);
  static constexpr int PITCH = (WORDS / DOWN | 1) * DOWN;  // words from one slot to the next
  using SmemLayout = Layout<Shape<Int<PITCH>, Shape<Int<V>, Int<VECTORS>>>,
                            Stride<_1, Stride<Int<PITCH * VECTORS>, Int<PITCH>>>>;  // (word of a column,(c % V,c / V))

  static RealignedGrid make(Copy const& copy) { return {Grid::make(copy)}; }

  // Unit number u of a thread: k rows by V columns. The units of a thread lie below each other.
  struct Unit {
    int vector, word;  // columns [vector * V, vector * V + V), rows [word * k, word * k + k) of the ROWS
  };
  CUTE_HOST_DEVICE static constexpr Unit unit(int tid, int u) {
    constexpr int across = VECTORS / LANES;  // warps along a row
    int const warp = tid / 32;
    return {tid % LANES + warp % across * LANES, tid % 32 / LANES + warp / across * DOWN + u * PASS};
  }
  // Rows from row 0 of unit 0 to row i of unit u.
  CUTE_HOST_DEVICE static constexpr int rows_below(int u, int i) { return u * PASS * k + i; }

  // SmemLayout orders the columns: column 0 of each vector, then column 1 of each, and so on. `slot` is the position in
  // this order.
  CUTE_HOST_DEVICE static constexpr int column_of(int slot) { return slot % VECTORS * V + slot / VECTORS; }
  // Offset of element (row,c) of the tile in shared memory, in elements.
  CUTE_HOST_DEVICE static constexpr int element_of(int row, int c) {
    return SmemLayout{}(row / k, make_coord(c % V, c / V)) * k + row % k;
  }
  // Byte offset within a column at which the output run begins, if the row of the output is skewed by s elements.
  CUTE_HOST_DEVICE static constexpr int window_byte(int s) { return (SKEW - s) * E; }

  // The vector that holds the first byte of *p.
  CUTE_HOST_DEVICE static Vector16 const* aligned(T const* p) {
    return reinterpret_cast<Vector16 const*>(reinterpret_cast<uintptr_t>(p) & ~uintptr_t(15));
  }
  // Row `row` of the ROWS rows, at column 0 of the matrix.
  CUTE_HOST_DEVICE T const* row_begin(Here const& here, int row) const {
    return here.row0 + row * this->ld_in - here.n;
  }
  // Whether all 16 bytes are elements of the source: of this row, or, if rows have no gaps between them, of any row.
  CUTE_HOST_DEVICE bool whole(Here const& here, int row, Vector16 const* vector) const {
    bool const gap = this->ld_in != this->N;
    T const* const begin = gap ? row_begin(here, row) : this->in + here.l * this->batch_in;
    T const* const end = begin + (gap ? this->N : this->M * this->N);
    auto const p = reinterpret_cast<T const*>(vector);
    return p >= begin && p + V <= end;
  }
  // Whether a thread may load this vector for this row, which may lie above or below the matrix.
  CUTE_HOST_DEVICE bool readable(Here const& here, int row, Vector16 const* vector) const {
    return row >= here.first && row < here.last && whole(here, row, vector);
  }

  // Calls f(from) for each end of the input rows that the tile touches: vectors of columns [from, from + V) may be
  // partly outside.
  template <class F>
  CUTE_HOST_DEVICE void over_ends(Here const& here, F const& f) const {
    if (here.n == 0) f(int64_t(0));
    if (here.n + BLK_N > this->N - V) f(this->N - V);
  }
  // Element number i of a thread among the ROWS x V elements at such an end.
  struct EndElement {
    int row;    // of the ROWS rows
    int64_t n;  // column of the matrix
  };
  CUTE_HOST_DEVICE static EndElement end_element(int64_t from, unsigned tid, int i) {
    return {int((tid + i * threads) / V), from + (tid + i * threads) % V};
  }
};

}  // namespace inlay::kernels
