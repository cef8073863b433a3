// TMA loads and stores: one thread loads a box into shared memory, waits for it, and stores it.
#pragma once
#include <inlay/tutorial/transpose/tma_tile.h>

namespace inlay::kernels::copy_04_tma {

using Tile = Shape<_32, _256>;  // (BLK_M,BLK_N)

struct Kernel : TileGrid<float, Tile, Writes::copy> {
  using Grid = TileGrid<float, Tile, Writes::copy>;
  CUtensorMap mapA, mapB;

  static constexpr LaunchInfo launch_info{.threads = 32};
  struct Smem {
    alignas(128) float A[Grid::BLK_M * Grid::BLK_N];  // (BLK_M,BLK_N)
    alignas(8) uint64_t full;                         // mbarrier: A is loaded
    static void members(auto name) { name("A", &Smem::A), name("full", &Smem::full); }
  };

  // A single row is copied as rows of BLK_N elements if BLK_N divides N: a box has several rows.
  static std::optional<Matrices> matrices(Copy const& copy) {
    auto x = copy.as_copy();
    if (x && x->M == 1 && x->L == 1 && x->N % Grid::BLK_N == 0)
      x->M = x->N / Grid::BLK_N, x->N = x->ld_in = x->ld_out = Grid::BLK_N;
    return x;
  }
  static Kernel make(Copy const& copy, auto const& setting) {
    Matrices const x = *matrices(copy);
    constexpr int bm = Grid::BLK_M, bn = Grid::BLK_N;
    return {Grid::make(x), setting.encode(tma_matrix(x.in, x.M, x.N, x.L, x.ld_in, x.batch_in, bm, bn)),
            setting.encode(tma_matrix(x.out, x.M, x.N, x.L, x.ld_out, x.batch_out, bm, bn))};
  }
  void relocate(auto const& at) {
    Grid::relocate(at);
    at.map(mapA, this->in), at.map(mapB, this->out);
  }

  template <class Block>
  CUTE_DEVICE void operator()(Block block, Smem& smem) const {
    auto& full = *reinterpret_cast<typename Block::Mbarrier*>(&smem.full);
    auto here = this->tile(block.block_index());
    if (block.thread_rank() != 0) return;
    full.init(1);
    block.fence_barrier_init();
    full.arrive_and_expect_tx(sizeof(smem.A));  // TMA fills whole boxes, zeros outside the matrix
    block.tma_load(mapA, full, smem.A, int(here.n), int(here.m), here.l);
    full.wait(0);
    block.tma_store(mapB, smem.A, int(here.n), int(here.m), here.l);  // clipped at the edge
    block.tma_store_commit();
    block.tma_store_wait_read(Int<0>{});
  }

  static Reason rejects(Copy const& copy, Device const& device) {
    if (Reason r = rejects_tma(device)) return r;
    if (Reason r = Grid::rejects(copy)) return r;
    Matrices const x = *matrices(copy);
    if (Reason r = rejects_unaligned_input(x, sizeof(float))) return r;
    if (Reason r = rejects_unaligned_output(x, x.M, sizeof(float))) return r;
    if (Reason r = rejects_tma_store(x.N * int64_t(sizeof(float)))) return r;
    if (Reason r = rejects_tma_extents(x.M, x.N, x.L, x.ld_in, x.batch_in)) return r;
    return rejects_tma_extents(x.M, x.N, x.L, x.ld_out, x.batch_out);
  }
};
using Dispatch = Kernel;

inline constexpr Info<Copy> info = {
    .name = "copy_04_tma",
    .idea = "TMA both ways, one box a block, driven by one thread; no registers, no lanes, no bank conflicts.",
    .source = "Colfax: TMA copy",
    .ladder = Ladder::copy,
    .origin = Origin::tutorial,
    .rejects = rejects_step<Kernel>,
};

}  // namespace inlay::kernels::copy_04_tma
