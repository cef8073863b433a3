// Family: 16-byte loads; transposes of 16 x 16-byte squares in registers; 16-byte stores to shared memory in the layout
// of the output; 16-byte loads and stores to the output. No narrower access, no bank conflict, one tile per block.
// Instances differ in the number of resident blocks, in the load operation, and in the order of the tiles.
#pragma once
#include <inlay/model/copy_time.h>

#include <inlay/block/load_ops.h>
#include <inlay/block/register_ops.h>
#include <inlay/kernels/copy/tile_grid.h>

namespace inlay::kernels {

// A tile row has 256 bytes, so that half a warp reads 256 contiguous bytes; a row of the output has 256 too, or 512 for
// 16-byte elements.
template <class T>
using RegisterTileShape = Shape<Int<(sizeof(T) == 16 ? 512 : 256) / sizeof(T)>, Int<256 / sizeof(T)>>;  // (BLK_M,BLK_N)

// Defaults; an instance overrides what it changes.
template <class T>
struct RegisterStep {
  using Tile = RegisterTileShape<T>;  // (BLK_M,BLK_N)
  static constexpr int threads = 256;
  using Load = LoadGlobal<Vector16>;       // global -> registers
  static constexpr int blocks_per_sm = 0;  // as many as fit
  static constexpr bool bands = false;
};

template <class T, class Step>
struct RegisterTile : TileGrid<T, typename Step::Tile, Writes::transpose> {
  using Grid = TileGrid<T, typename Step::Tile, Writes::transpose>;
  static constexpr int E = sizeof(T), V = 16 / E;  // elements of a vector, rows and columns of a square
  static constexpr int BLK_M = Grid::BLK_M, BLK_N = Grid::BLK_N, CHUNKS = BLK_M / V, VECTORS = BLK_N / V;
  static constexpr int threads = Step::threads;
  static constexpr bool follows = requires { Step::follows; };
  static constexpr LaunchInfo launch_info{.threads = threads, .blocks_per_sm = Step::blocks_per_sm, .follows = follows};

  // Coordinates count vectors along the contiguous mode. The square of a thread is one vector in each of V rows, lanes
  // along the rows; in shared memory it is one vector in each of V columns; the final stores run along the rows of the
  // output.
  using LoadThreads = Layout<Shape<Int<threads / VECTORS>, Int<VECTORS>>, Stride<Int<VECTORS>, _1>>;  // (THR_M,THR_N)
  using StoreThreads = Layout<Shape<Int<CHUNKS>, Int<threads / CHUNKS>>>;                             // (THR_M,THR_N)

  // Columns are contiguous. The vector index within a column is xored with the low 3 bits of the vector that the column
  // came from: 8 neighbouring lanes store 8 neighbouring vectors, and load 8 neighbouring vectors of a column, without
  // bank conflicts.
  using Swz = Swizzle<3, 0, log2_of(CHUNKS) + log2_of(V)>;
  using SmemLayout = decltype(composition(Swz{}, Layout<Shape<Int<CHUNKS>, Int<BLK_N>>>{}));  // (CHUNKS,BLK_N)
  struct Smem {
    alignas(128) Vector16 A[cosize_v<SmemLayout>];
    static void members(auto name) { name("A", &Smem::A); }
  };

  static RegisterTile make(Copy const& copy, auto const&) {
    auto grid = Grid::make(*Grid::matrices(copy));
    // Pitches of 128 or 256 KB: presumably the rows of a tile lie in few DRAM channels. Alternating bands of tiles 16
    // or 8 KB apart (measured) spreads them.
    if (int64_t const pitch = grid.ld_in * E; Step::bands && (pitch == 128 << 10 || pitch == 256 << 10))
      if (int const apart = int((int64_t(1) << 31) / pitch / (BLK_N * E)); grid.tiles_n % (2 * apart) == 0)
        grid.order.band_stride = apart;
    return {grid};
  }

  template <class Block>
  CUTE_DEVICE void operator()(Block block, Smem& smem) const {
    if constexpr (follows) block.griddep_launch_dependents();
    auto here = this->tile(block.block_index());
    auto in = reinterpret_cast<Vector16 const*>(here.in);
    auto out = reinterpret_cast<Vector16*>(here.out);
    auto shape_A = Shape<Int<BLK_M>, Int<VECTORS>>{};
    auto shape_B = Shape<Int<CHUNKS>, Int<BLK_N>>{};
    Tensor gA = make_tensor(block.gmem(in), shape_A, make_stride(this->ld_in / V, _1{}));    // (BLK_M,VECTORS)
    Tensor gB = make_tensor(block.gmem(out), shape_B, make_stride(_1{}, this->ld_out / V));  // (CHUNKS,BLK_N)
    Tensor sB = make_tensor(make_smem_ptr(smem.A), SmemLayout{});                            // (CHUNKS,BLK_N)

    using Rows = Layout<Shape<Int<V>, _1>>;     // of a square in A
    using Columns = Layout<Shape<_1, Int<V>>>;  // of a square in B
    auto copy_A = make_tiled_copy(Copy_Atom<On<Block, typename Step::Load>, Vector16>{}, LoadThreads{}, Rows{});
    auto atom = Copy_Atom<On<Block, UniversalCopy<Vector16>>, Vector16>{};
    auto copy_T = make_tiled_copy(atom, LoadThreads{}, Columns{});
    auto copy_B = make_tiled_copy(atom, StoreThreads{});
    auto thr_A = copy_A.get_slice(block.thread_rank());
    auto thr_T = copy_T.get_slice(block.thread_rank());
    auto thr_B = copy_B.get_slice(block.thread_rank());
    Tensor tAgA = thr_A.partition_S(gA);               // (CPY,CPY_M,CPY_N), CPY = (1,V)
    Tensor tTsB = thr_T.partition_D(sB);               // (CPY,CPY_M,CPY_N), CPY = (1,V)
    Tensor tBsB = thr_B.partition_S(sB);               // (CPY,CPY_M,CPY_N)
    Tensor tBgB = thr_B.partition_D(gB);               // (CPY,CPY_M,CPY_N)
    Tensor tArA = make_tensor<Vector16>(shape(tAgA));  // (CPY,CPY_M,CPY_N)
    Tensor tTrB = make_tensor<Vector16>(shape(tTsB));  // (CPY,CPY_M,CPY_N)
    Tensor tBrB = make_tensor<Vector16>(shape(tBgB));  // (CPY,CPY_M,CPY_N)

    // Extents are multiples of V: a square lies inside or outside the matrix as a whole.
    bool const full = here.full();
    if constexpr (follows) block.griddep_wait();
    if (full) {
      copy(copy_A, tAgA, tArA);
    } else {
      auto edge = make_coord(here.rows, here.cols / V);
      auto inside = [&](auto const& c) { return elem_less(c, edge); };
      copy_if(copy_A, lazy::transform(thr_A.partition_S(make_identity_tensor(shape_A)), inside), tAgA, tArA);
    }
    CUTE_UNROLL
    for (int square = 0; square < size(tArA) / V; ++square) {
      Vector16 rows[V], columns[V];
      CUTE_UNROLL
      for (int i = 0; i < V; ++i) rows[i] = tArA(square * V + i);
      transpose_square<E>(rows, columns);
      CUTE_UNROLL
      for (int i = 0; i < V; ++i) tTrB(square * V + i) = columns[i];
    }
    copy(copy_T, tTrB, tTsB);
    block.sync();
    copy(copy_B, tBsB, tBrB);
    if (full) {
      copy(copy_B, tBrB, tBgB);
    } else {
      auto edge = make_coord(here.rows / V, here.cols);
      auto inside = [&](auto const& c) { return elem_less(c, edge); };
      copy_if(copy_B, lazy::transform(thr_B.partition_D(make_identity_tensor(shape_B)), inside), tBrB, tBgB);
    }
  }

  static Reason rejects(Copy const& copy, Device const&) {
    if (Reason r = Grid::rejects(copy)) return r;
    auto const& x = *Grid::matrices(copy);
    if (Reason r = rejects_unaligned_input(x, sizeof(T))) return r;
    if (x.M * int64_t(sizeof(T)) % 16)
      return {"columns of {} bytes are no whole number of 16-byte vectors", {x.M * int64_t(sizeof(T))}};
    return rejects_unaligned_output(x, x.N, sizeof(T));
  }

  static double seconds(Copy const& copy, Device const& device) {
    Matrices const& x = *Grid::matrices(copy);
    double const tiles = double(Grid::make(x).blocks()), tile = BLK_M * BLK_N * double(E);
    double const bytes = double(copy.elements()) * E,
                 taken =
                     (2 * bytes + tiles * tile) / 3;  // partial tiles take at least a third of the time of whole ones
    CopyWork const w{.bytes = 2 * taken,
                     .sectors = 2 * taken / 32,
                     .instructions = tiles * threads / 32 * (70 + 24 * tile / 16 / threads),
                     .wavefronts = tiles * tile / 16 / 32 * 16,
                     .blocks = tiles,
                     .resident_blocks = 6,  // an effective number: blocks_per_sm bounds the bytes in flight
                     .block_us = 1.1 + .02 * tile / 1024,
                     .correction = .96};
    return seconds_of(w.times(double(copy.pairs)), device);
  }
};

}  // namespace inlay::kernels
