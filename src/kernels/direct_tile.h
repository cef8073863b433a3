// Family: global -> registers -> global. Steps differ in the tile, in how the threads lie on it, and in the bytes a
// lane moves at once.
#pragma once
#include "kernels/tile_grid.h"

namespace inlay::kernels {

// Step: Tile, Threads (thread -> (m,n) of the tile), Access (bytes of one lane as a type; one vector along N),
// writes, threads.
template <class T, class Step>
struct DirectTile : TileGrid<T, typename Step::Tile, Step::writes> {
  using Grid = TileGrid<T, typename Step::Tile, Step::writes>;
  using Tile = typename Step::Tile;        // (BLK_M,BLK_N)
  using Threads = typename Step::Threads;  // (THR_M,THR_N)
  using Access = typename Step::Access;
  static constexpr int V = sizeof(Access) / sizeof(T);  // elements of one access
  static constexpr int threads = size(Threads{});
  struct Smem {};

  template <class Encoder>
  static DirectTile make(Move const& move, Encoder const&) {
    return {Grid::make(*Grid::matrices(move))};
  }

  template <class Block>
  CUTE_DEVICE void operator()(Block block, Smem&) const {
    auto here = this->tile(block.group_index());
    auto stride_A = make_stride(this->ld_in, _1{});
    Tensor gA = make_tensor(make_gmem_ptr(here.in), Tile{}, stride_A);             // (BLK_M,BLK_N)
    Tensor gB = make_tensor(make_gmem_ptr(here.out), Tile{}, this->out_stride());  // (BLK_M,BLK_N)
    Tensor cA = make_identity_tensor(Tile{});                                      // (BLK_M,BLK_N) -> (m,n)

    auto atom = Copy_Atom<On<Block, UniversalCopy<Access>>, T>{};
    auto copy_AB = make_tiled_copy(atom, Threads{}, Layout<Shape<_1, Int<V>>>{});
    auto thr = copy_AB.get_slice(block.thread_rank());
    Tensor tAgA = thr.partition_S(gA);       // (CPY,CPY_M,CPY_N)
    Tensor tAgB = thr.partition_D(gB);       // (CPY,CPY_M,CPY_N)
    Tensor tArA = make_fragment_like(tAgA);  // (CPY,CPY_M,CPY_N)

    if (here.full()) {
      copy(copy_AB, tAgA, tArA);
      copy(copy_AB, tArA, tAgB);
    } else {
      Tensor tAcA = thr.partition_S(cA);  // (CPY,CPY_M,CPY_N) -> (m,n)
      auto edge = make_coord(here.rows, here.cols);
      Tensor tAin = lazy::transform(tAcA, [&](auto const& c) { return elem_less(c, edge); });
      copy_if(copy_AB, tAin, tAgA, tArA);
      copy_if(copy_AB, tAin, tArA, tAgB);
    }
  }

  static Reason rejects(Move const& move, Device const&) {
    if (Reason r = Grid::rejects(move)) return r;
    if constexpr (V > 1) {
      auto const x = *Grid::matrices(move);
      if (Reason r = rejects_unaligned_input(x, sizeof(T))) return r;
      if (Reason r = rejects_unaligned_output(x, x.M, sizeof(T))) return r;
    }
    return {};
  }

  // Lanes lie along N or, where the threads are ordered along M first, along M.
  static Cost cost(Move const& move) {
    constexpr bool lanes_along_m = size<0>(Threads{}) >= 32 && stride<0>(Threads{}) == 1;
    Matrices const x = *Grid::matrices(move);
    Walk in = input_walk(x, sizeof(T), Grid::BLK_M, Grid::BLK_N);
    Walk out = output_walk(x, sizeof(T), Grid::BLK_M, Grid::BLK_N, Grid::transposes);
    in.vector = out.vector = V;
    Cost c;
    c.global_load = lanes_along_m ? column_sectors(in) : row_sectors(in);
    c.global_store = lanes_along_m == Grid::transposes ? row_sectors(out) : column_sectors(out);
    return c;
  }
};

}  // namespace inlay::kernels
