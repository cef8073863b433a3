// TMA loads and stores without bank conflicts, which the tutorial leaves open: TMA swizzles boxes
// of 128-byte rows, threads transpose squares in registers. A warp's squares lie on diagonals, so
// that 8 adjacent lanes load and store 16-byte chunks at 8 different offsets modulo 128 bytes.
#pragma once
#include <inlay/block/register_ops.h>
#include <inlay/tutorial/transpose/tma_tile.h>

namespace inlay::kernels::transpose_14_tma {

using Tile = Shape<_64, _64>;  // (BLK_M,BLK_N): two boxes per row

struct Kernel : TileGrid<float, Tile, Writes::transpose> {
  using Grid = TileGrid<float, Tile, Writes::transpose>;
  CUtensorMap mapA, mapB;

  static constexpr int threads = 256;
  static constexpr LaunchInfo launch_info{.threads = threads, .blocks_per_sm = 4};
  static constexpr int E = sizeof(float), V = 16 / E, BLK_M = Grid::BLK_M, BLK_N = Grid::BLK_N, BOX = 128 / E;
  // Rows of 8 chunks of 16 bytes, as TMA swizzles them; one box after the other.
  using Swz = Swizzle<3, 0, 3>;
  using LayoutA = decltype(composition(
      Swz{}, Layout<Shape<Int<BLK_M>, Shape<_8, _2>>, Stride<_8, Stride<_1, Int<BLK_M * 8>>>>{}));  // (BLK_M,chunk)
  using LayoutB = decltype(composition(
      Swz{}, Layout<Shape<Shape<_8, _2>, Int<BLK_N>>, Stride<Stride<_1, Int<BLK_N * 8>>, _8>>{}));  // (chunk,BLK_N)
  struct Smem {
    alignas(1024) Vector16 A[BLK_M * 16];  // the loaded tile, then the tile to store
    alignas(8) uint64_t full;              // mbarrier: A is loaded
    static void members(auto name) { name("A", &Smem::A), name("full", &Smem::full); }
  };

  static Kernel make(Copy const& copy, auto const& setting) {
    Matrices const& x = *Grid::matrices(copy);
    return {Grid::make(x), setting.encode(tma_matrix(x.in, x.M, x.N, x.L, x.ld_in, x.batch_in, BLK_M, BOX, true)),
            setting.encode(tma_matrix(x.out, x.N, x.M, x.L, x.ld_out, x.batch_out, BLK_N, BOX, true))};
  }
  void relocate(auto const& at) {
    Grid::relocate(at);
    at.map(mapA, this->in), at.map(mapB, this->out);
  }

  template <class Block>
  CUTE_DEVICE void operator()(Block block, Smem& smem) const {
    auto& full = *reinterpret_cast<typename Block::Mbarrier*>(&smem.full);
    auto here = this->tile(block.block_index());
    Tensor sA = make_tensor(make_smem_ptr(smem.A), LayoutA{});  // (BLK_M,chunk)
    Tensor sB = make_tensor(make_smem_ptr(smem.A), LayoutB{});  // (chunk,BLK_N)
    bool const first = block.thread_rank() == 0;
    if (first) {
      full.init(1);
      block.fence_barrier_init();
      full.arrive_and_expect_tx(sizeof(smem.A));  // TMA fills whole boxes, zeros outside the matrix
      for (int box = 0; box < 2; ++box)
        block.tma_load(mapA, full, smem.A + box * BLK_M * 8, int(here.n) + box * BOX, int(here.m), here.l,
                       L2::evict_last);
    }
    block.sync();  // the mbarrier is initialised
    full.wait(0);

    // A thread's square: chunk `a` of rows V * b to V * b + V - 1. Eight lanes take diagonal d of a
    // group of 8 x 8 squares, b % 8 = a ^ d.
    int const tid = block.thread_rank(), a = tid % 8, d = tid / 8 % 8, group = tid / 64 % 2, box = tid / 128;
    int const b = group * 8 + (a ^ d);
    Copy_Atom<On<Block, UniversalCopy<Vector16>>, Vector16> atom;
    Vector16 rows[V], columns[V];
    CUTE_UNROLL
    for (int i = 0; i < V; ++i) copy_one(atom, true, make_smem_ptr(&sA(b * V + i, make_coord(a, box))), &rows[i]);
    transpose_square<E>(rows, columns);
    block.sync();  // all threads have read A, which is now overwritten
    CUTE_UNROLL
    for (int i = 0; i < V; ++i)
      copy_one(atom, true, &columns[i], make_smem_ptr(&sB(make_coord(b % 8, b / 8), (box * 8 + a) * V + i)));
    block.fence_proxy_async();  // makes the stores visible to TMA
    block.sync();
    if (first) {
      for (int half = 0; half < 2; ++half)  // clipped at the edge
        block.tma_store(mapB, smem.A + half * BLK_N * 8, int(here.m) + half * BOX, int(here.n), here.l);
      block.tma_store_commit();
      block.tma_store_wait_read(Int<0>{});
    }
  }

  static Reason rejects(Copy const& copy, Device const& device) {
    if (Reason r = rejects_tma(device)) return r;
    if (Reason r = Grid::rejects(copy)) return r;
    auto const& x = *Grid::matrices(copy);
    if (Reason r = rejects_unaligned_input(x, E)) return r;
    if (Reason r = rejects_unaligned_output(x, x.N, E)) return r;
    if (Reason r = rejects_tma_store(x.M * E)) return r;
    if (Reason r = rejects_tma_extents(x.M, x.N, x.L, x.ld_in, x.batch_in)) return r;
    return rejects_tma_extents(x.N, x.M, x.L, x.ld_out, x.batch_out);
  }
};
using Dispatch = Kernel;

inline constexpr Info<Copy> info = {
    .name = "transpose_14_tma",
    .idea =
        "TMA load and store, 128-byte swizzle, squares transposed in registers along diagonals: no bank conflict on "
        "either "
        "side.",
    .source = "Colfax: TMA load and store, left open there",
    .ladder = Ladder::transpose,
    .origin = Origin::ours,
    .rejects = rejects_step<Kernel>,
};

}  // namespace inlay::kernels::transpose_14_tma
