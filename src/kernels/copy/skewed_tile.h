// Transposes of any pitch and base address with an alignment skew: within a tile, each row of the output begins up to
// SKEW elements early, on a sector, so that no sector is written in part. Two tiles read the SKEW input rows between
// them.
#pragma once
#include <inlay/kernels/copy/tile_grid.h>
#include <inlay/model/copy_time.h>

namespace inlay::kernels {

// A tile loads BLK_M + SKEW rows of the input, from SKEW rows above its origin on. Row n of the output stores BLK_M of
// them, from the first one whose destination address begins a sector.
template <class T, class Tile>
struct SkewedGrid : TileGrid<T, Tile, Writes::transpose> {
  using Grid = TileGrid<T, Tile, Writes::transpose>;
  static constexpr int BLK_M = Grid::BLK_M, BLK_N = Grid::BLK_N, SKEW = 32 / sizeof(T), ROWS = BLK_M + SKEW;

  static int64_t tiles_along_m(Matrices const& x) { return ceil_div(x.M + SKEW - 1, int64_t(BLK_M)); }
  static int64_t tiles_along_n(Matrices const& x) { return ceil_div(x.N, int64_t(BLK_N)); }
  static SkewedGrid make(Copy const& copy) {
    Matrices const& x = *Grid::matrices(copy);
    return {Grid::make(x, tiles_along_m(x), tiles_along_n(x))};
  }
  static Reason rejects(Copy const& copy, Device const&) {
    auto const& x = Grid::matrices(copy);
    if (!x) return Grid::rejects_shape();
    return Grid::rejects_blocks(tiles_along_m(*x), tiles_along_n(*x), x->L);
  }

  // The SKEW rows above each tile are read twice; input rows begin at any byte of a sector.
  static double seconds(Copy const& copy, Device const& device, int threads, double instructions, double block_us,
                        double measured = 1) {
    Matrices const& x = *Grid::matrices(copy);
    double const E = sizeof(T), tiles = double(tiles_along_m(x)) * double(tiles_along_n(x)) * double(x.L);
    double const bytes = double(copy.elements()) * E, whole = bytes / (BLK_M * BLK_N * E);
    CopyWork const w{.bytes = 2 * bytes,
                     .sectors = (2 * whole + tiles) / 3 * (ROWS * (BLK_N * E + 31) / 32 + BLK_M * BLK_N * E / 32),
                     .instructions = tiles * threads / 32 * 100 +
                                     (2 * whole + tiles) / 3 * BLK_M * BLK_N * E / 16 / 32 * instructions,
                     .blocks = tiles,
                     .resident_blocks = 3,
                     .block_us = block_us,
                     .correction = measured};
    return seconds_of(w.times(double(copy.pairs)), device);
  }
  struct Here : Grid::Here {
    T const* row0;    // the first of the ROWS rows, at the tile's first column; it may lie above the matrix
    int first, last;  // rows [first, last) of the ROWS lie in the matrix
    CUTE_HOST_DEVICE bool rows_full() const { return first == 0 && last == ROWS; }
  };
  CUTE_HOST_DEVICE Here tile(uint32_t block) const {
    auto const [tile_m, band, l] = this->order.coord(block);
    // The last columns of the matrix come first: tiles at its edges take longer and would otherwise form the tail.
    auto const here = Grid::at(tile_m, band == 0 ? this->tiles_n - 1 : band - 1, l);
    int64_t const below = this->M - here.m;  // rows from the tile's origin on
    return {here, here.in - SKEW * this->ld_in, here.m == 0 ? SKEW : 0, below < BLK_M ? int(below) + SKEW : ROWS};
  }
  int64_t block_of(int64_t tile_m, int64_t tile_n, int64_t l) const {
    return Grid::block_of(tile_m, (tile_n + 1) % this->tiles_n, l);
  }
  // Elements by which row c of the output begins before the tile's origin.
  CUTE_HOST_DEVICE int skew(Here const& here, int c) const {
    return int((unsigned(reinterpret_cast<uintptr_t>(here.out)) / sizeof(T) + unsigned(c) * unsigned(this->ld_out)) %
               SKEW);
  }
};

// One element per access: with elements of 4 bytes and more, that is as fast as 16-byte vectors.
template <class T, class Step>
struct SkewedTile : SkewedGrid<T, typename Step::Tile> {
  using Grid = SkewedGrid<T, typename Step::Tile>;
  static constexpr bool takes_any_alignment = true;  // each tile looks at its addresses
  static double seconds(Copy const& copy, Device const& device) {
    constexpr double measured = sizeof(T) == 8 ? .87 : sizeof(T) == 4 ? .92 : .95;
    return Grid::seconds(copy, device, threads, 20 + 8 * 16. / sizeof(T), 1.6, measured);
  }
  static constexpr int BLK_M = Grid::BLK_M, BLK_N = Grid::BLK_N, ROWS = Grid::ROWS, SKEW = Grid::SKEW;
  static constexpr int threads = Step::threads;
  static constexpr LaunchInfo launch_info{
      .threads = threads, .min_blocks = Step::min_blocks, .blocks_per_sm = Step::blocks_per_sm, .follows = true};
  static_assert(ROWS % (threads / BLK_N) == 0 && BLK_M % 32 == 0 && BLK_N % (threads / 32) == 0);
  using LoadThreads = Layout<Shape<Int<threads / BLK_N>, Int<BLK_N>>, Stride<Int<BLK_N>, _1>>;  // (THR_M,THR_N)
  using StoreThreads = Layout<Shape<_32, Int<threads / 32>>>;                                   // (THR_M,THR_N)
  // Columns are contiguous, with an odd pitch in elements: lanes along a row access different banks too.
  using SmemLayout = Layout<Shape<Int<ROWS>, Int<BLK_N>>, Stride<_1, Int<(ROWS | 1)>>>;  // (ROWS,BLK_N)
  struct Smem {
    alignas(128) T A[cosize_v<SmemLayout>];
    static void members(auto name) { name("A", &Smem::A); }
  };

  static SkewedTile make(Copy const& copy, auto const&) { return {Grid::make(copy)}; }

  template <class Block>
  CUTE_DEVICE void operator()(Block block, Smem& smem) const {
    block.griddep_launch_dependents();
    auto here = this->tile(block.block_index());
    Tensor gA = make_tensor(block.gmem(here.row0), Shape<Int<ROWS>, Int<BLK_N>>{},
                            make_stride(this->ld_in, _1{}));       // (ROWS,BLK_N)
    Tensor sA = make_tensor(make_smem_ptr(smem.A), SmemLayout{});  // (ROWS,BLK_N)

    auto copy_A = make_tiled_copy(Copy_Atom<On<Block, typename Step::Load>, T>{}, LoadThreads{});
    auto copy_S = make_tiled_copy(Copy_Atom<On<Block, UniversalCopy<T>>, T>{}, LoadThreads{});
    auto thr_A = copy_A.get_slice(block.thread_rank());
    Tensor tAgA = thr_A.partition_S(gA);        // (CPY,CPY_M,CPY_N)
    Tensor tAsA = thr_A.partition_D(sA);        // (CPY,CPY_M,CPY_N)
    Tensor tArA = make_tensor<T>(shape(tAgA));  // (CPY,CPY_M,CPY_N)
    block.griddep_wait();
    if (here.rows_full() && here.cols == BLK_N) {
      copy(copy_A, tAgA, tArA);
    } else {
      Tensor tAcA = thr_A.partition_S(make_identity_tensor(shape(gA)));  // (CPY,CPY_M,CPY_N) -> (row,n)
      auto inside = [&](auto const& c) {
        int const row = get<0>(c), n = get<1>(c);
        return row >= here.first && row < here.last && n < here.cols;
      };
      copy_if(copy_A, lazy::transform(tAcA, inside), tAgA, tArA);
    }
    copy(copy_S, tArA, tAsA);
    block.sync();

    if (here.rows_full() && here.cols == BLK_N)
      store(block, here, sA, [](int, int) { return true; });
    else
      store(block, here, sA,
            [&](int m, int c) { return m >= here.first - SKEW && m < here.last - SKEW && c < here.cols; });
  }

  // inside(m, c): whether element m of the output's row c, counted from the tile's origin, lies in the matrix.
  template <class Block, class Here, class Shared, class Inside>
  CUTE_DEVICE void store(Block block, Here const& here, Shared const& sA, Inside inside) const {
    Copy_Atom<On<Block, UniversalCopy<T>>, T> atom;
    constexpr int warps = threads / 32;
    int const lane = block.thread_rank() % 32, warp = block.thread_rank() / 32;
    CUTE_UNROLL
    for (int c = warp; c < BLK_N; c += warps) {
      int const s = this->skew(here, c);
      CUTE_UNROLL
      for (int i = 0; i < BLK_M; i += 32) {
        T r;
        copy_one(atom, true, sA.data() + SmemLayout{}(SKEW - s + i + lane, c), &r);
        copy_one(atom, inside(i + lane - s, c), &r, block.gmem(here.out + c * this->ld_out - s + i + lane));
      }
    }
  }
};

}  // namespace inlay::kernels
