// fp32 sums of wgmma to rows of D through shared memory: consecutive lanes write consecutive elements. A store from
// registers would write 32 bytes in each of eight rows, and parts of two sectors in each where rows do not begin at a
// sector.
#pragma once
#include <inlay/kernels/gemm/tensor/fragment_epilogue.h>

namespace inlay::kernels {

// Predicted for old elements of D that are read, at these bytes a second, in vectors or element by element. By the
// layout alone: where a matrix of a batch begins must not decide.
inline double seconds_of_addend(Gemm const& g, double vectors, double elements) {
  bool const whole = g.D.col_stride == 1 && g.D.row_stride % 4 == 0 && g.D.cols % 4 == 0;
  return g.epilogue.beta == 0 ? 0 : 4 * double(g.elements()) / (whole ? vectors : elements);
}

// For the threads that hold the accumulators of a TiledMMA, 16 rows a warp: a warp stages 8 rows and COLS columns at a
// time.
template <int COLS>
struct StagedSums {
  static constexpr int rows = 8, floats = rows * COLS;  // of shared memory, for each warp
  static_assert(COLS == 32 || COLS == 64 || COLS == 128);

  // Scales the sums and writes them to the tile at (m,n) of a matrix of D. staged: `floats` floats of shared
  // memory for each warp, in the order of the warps, aligned to 16 bytes.
  template <class Block, class TiledMma, class Tile, class RD>
  CUTE_DEVICE static void store(Block block, Gemm const& g, float* staged, TiledMma const& mma, Tile const& tile,
                                RD& sum, int64_t m, int64_t n, int64_t matrix) {
    if (g.D.col_stride != 1 && g.D.cols > 1) {
      auto const thr_mma = mma.get_slice(int(block.thread_rank()));
      finish_fragment<float, Epilogues::plain, false>(block, g, thr_mma, tile, sum, m, n, matrix);
      return store_fragment<float, Epilogues::plain, true>(block, g, thr_mma, tile, sum, m, n, matrix);
    }
    if (takes_vectors(g.D))
      store_as<Quad>(block, g, staged, sum, m, n, matrix);
    else
      store_as<float>(block, g, staged, sum, m, n, matrix);
  }

 private:
  template <class X, class Block, class RD>
  CUTE_DEVICE static void store_as(Block block, Gemm const& g, float* staged, RD const& sum, int64_t m, int64_t n,
                                   int64_t matrix) {
    constexpr int BLK_N = int(size(RD{})) * 2;
    static_assert(BLK_N % COLS == 0);
    int const rank = behind_loop(int(block.thread_rank())), warp = rank / 32, lane = rank % 32;
    float* const tile = staged + warp * floats;
    CUTE_UNROLL
    for (int half = 0; half < 2; ++half) CUTE_UNROLL
    for (int first = 0; first < BLK_N; first += COLS) {
      block.syncwarp();  // all lanes have read what the tile held
      put(block, tile, lane, sum, half, first);
      block.syncwarp();
      auto const write_sums = [&]<bool adds>(constant<bool, adds>) {
        write<X, adds>(block, g, tile, lane, m + warp * 16 + half * rows, n + first, matrix);
      };
      if (g.epilogue.beta == 0)
        write_sums(constant<bool, false>{});
      else
        write_sums(constant<bool, true>{});
    }
  }
  // Number 4 j + 2 h + v of a thread's sums is in row lane / 4 + 8 h of the warp's and in column 8 j + lane % 4 * 2 +
  // v. half: h. Column c of row r is staged at c ^ r % 4 * 8 of its row: pairs of four rows have different banks. Both
  // stores of a pair are one in the machine code, though not in PTX, where the compiler would split pairs.
  template <class Block, class RD>
  CUTE_DEVICE static void put(Block, float* tile, int lane, RD const& sum, int half, int first) {
    Copy_Atom<On<Block, UniversalCopy<float>>, float> atom;
    int const row = lane / 4;
    CUTE_UNROLL
    for (int c = 0; c < COLS; c += 8) CUTE_UNROLL
    for (int v = 0; v < 2; ++v)
      copy_one(atom, true, &sum((first + c) / 2 + 2 * half + v),
               make_smem_ptr(tile + (row * COLS + ((c + lane % 4 * 2) ^ row % 4 * 8) + v)));
  }
  // Writes the staged sums to D, from (m,n) on. X: Quad or float, an access. adds: beta times the old elements of D.
  template <class X, bool adds, class Block>
  CUTE_DEVICE static void write(Block block, Gemm const& g, float const* tile, int lane, int64_t m, int64_t n,
                                int64_t matrix) {
    constexpr int V = sizeof(X) / sizeof(float), lanes = cute::min(COLS / V, 32);  // of a row
    constexpr int of_row = COLS / V / lanes, step = 32 / lanes;  // accesses of a lane; rows of an access
    // Rows in flight. Fewer where D is read: 16 loads a lane took 805 us where 8 took 573 (8193 x 11114 x 128 on an
    // H200), perhaps because the L1 loses lines that two accesses share.
    constexpr int at_once = cute::min(rows, (V > 1 ? 4 : adds ? 8 : 16) * step / of_row);
    Copy_Atom<On<Block, UniversalCopy<X>>, X> atom;
    Epilogue const e = g.epilogue;  // a copy: read through g, alpha and beta would be loaded again after each store
    int64_t const pitch = g.D.row_stride;
    int const row = lane / lanes, column = lane % lanes * V;
    float* to = g.D.as<float>() + (matrix * g.D.batch_stride + (m + row) * pitch + n + column);
    int const rows_left = int(cute::min(g.M() - m - row, int64_t(rows))),
              columns_left = int(cute::min(g.N() - n - column, int64_t(COLS)));
    CUTE_NO_UNROLL
    for (int first = 0; first < rows; first += at_once, to += at_once * pitch) {
      X sums[at_once / step][of_row], old[at_once / step][of_row] = {};
      auto const each = [&](auto const& f) {
        CUTE_UNROLL
        for (int r = 0; r < at_once; r += step) CUTE_UNROLL
        for (int c = 0; c < of_row; ++c) f(r, c * 32, sums[r / step][c], old[r / step][c]);
      };
      auto const copy_D = [&](int r, int c, auto const& copy) {
        copy(first + r < rows_left && c < columns_left, make_gmem_ptr(reinterpret_cast<X*>(to + r * pitch + c)));
      };
      if constexpr (adds) {
        each([&](int r, int c, X&, X& o) { copy_D(r, c, [&](bool on, auto from) { copy_one(atom, on, from, &o); }); });
        block.syncwarp();  // keeps all loads before the first store
      }
      each([&](int r, int c, X& x, X&) {
        int const in_tile = first + r + row;
        copy_one(atom, true,
                 make_smem_ptr(reinterpret_cast<X const*>(tile + (in_tile * COLS + c + (column ^ in_tile % 4 * 8)))),
                 &x);
      });
      each([&](int, int, X& x, X& o) {
        CUTE_UNROLL
        for (int v = 0; v < V; ++v) {
          float& element = reinterpret_cast<float*>(&x)[v];
          element = adds ? scaled(e, element, reinterpret_cast<float const*>(&o)[v]) : e.alpha * element;
        }
      });
      each([&](int r, int c, X& x, X&) { copy_D(r, c, [&](bool on, auto to) { copy_one(atom, on, &x, to); }); });
    }
  }
};

}  // namespace inlay::kernels
