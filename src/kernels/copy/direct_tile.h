// Family: global memory -> registers -> global memory, one element per access. Instances differ in the tile and in the
// thread layout.
#pragma once
#include <inlay/model/copy_time.h>

#include <inlay/kernels/copy/tile_grid.h>

namespace inlay::kernels {

// Step: Tile, Threads (thread -> (m,n) of the tile), writes. T may be wider than the elements of the copy: a copy of
// rows of whole vectors is a copy of 16-byte elements. Load: the operation that reads.
template <class T, class Step, class Load = UniversalCopy<T>>
struct DirectTile : TileGrid<T, typename Step::Tile, Step::writes> {
  using Grid = TileGrid<T, typename Step::Tile, Step::writes>;
  using Tile = typename Step::Tile;        // (BLK_M,BLK_N)
  using Threads = typename Step::Threads;  // (THR_M,THR_N)
  static constexpr int threads = size(Threads{});
  static constexpr bool follows = requires { Step::follows; };
  static constexpr LaunchInfo launch_info{.threads = threads, .follows = follows};
  struct Smem {};

  // The copy as a batch of matrices, in elements of T.
  static std::optional<Matrices> matrices(Copy const& copy) {
    auto x = Grid::matrices(copy);
    if (int64_t const v = int64_t(sizeof(T)) / copy.elem_bytes; x && v > 1)
      x->N /= v, x->ld_in /= v, x->ld_out /= v, x->batch_in /= v, x->batch_out /= v;
    return x;
  }
  static DirectTile make(Copy const& copy, auto const&) { return {Grid::make(*matrices(copy))}; }

  template <class Block>
  CUTE_DEVICE void operator()(Block block, Smem&) const {
    if constexpr (follows) block.griddep_launch_dependents();
    auto here = this->tile(block.block_index());
    auto stride_A = make_stride(this->ld_in, _1{});
    Tensor gA = make_tensor(block.gmem(here.in), Tile{}, stride_A);             // (BLK_M,BLK_N)
    Tensor gB = make_tensor(block.gmem(here.out), Tile{}, this->out_stride());  // (BLK_M,BLK_N)
    Tensor cA = make_identity_tensor(Tile{});                                   // (BLK_M,BLK_N) -> (m,n)

    auto copy_A = make_tiled_copy(Copy_Atom<On<Block, Load>, T>{}, Threads{});
    auto copy_B = make_tiled_copy(Copy_Atom<On<Block, UniversalCopy<T>>, T>{}, Threads{});
    auto thr = copy_A.get_slice(block.thread_rank());  // one element per access: both sides have the same partition
    Tensor tAgA = thr.partition_S(gA);                 // (CPY,CPY_M,CPY_N)
    Tensor tAgB = thr.partition_D(gB);                 // (CPY,CPY_M,CPY_N)
    Tensor tArA = make_fragment_like(tAgA);            // (CPY,CPY_M,CPY_N)

    if constexpr (follows) block.griddep_wait();
    if (here.full()) {
      copy(copy_A, tAgA, tArA);
      copy(copy_B, tArA, tAgB);
    } else {
      Tensor tAcA = thr.partition_S(cA);  // (CPY,CPY_M,CPY_N) -> (m,n)
      auto edge = make_coord(here.rows, here.cols);
      Tensor tAin = lazy::transform(tAcA, [&](auto const& c) { return elem_less(c, edge); });
      copy_if(copy_A, tAin, tAgA, tArA);
      copy_if(copy_B, tAin, tArA, tAgB);
    }
  }

  // The predicted time of a copy of rows.
  static double seconds(Copy const& copy, Device const& device) requires(!Grid::transposes) {
    constexpr double BLK_BYTES = double(Grid::BLK_M) * Grid::BLK_N * sizeof(T);
    constexpr double each = double(Grid::BLK_M) * Grid::BLK_N / 32;  // accesses of warps in a tile
    double const tiles = double(make(copy, 0).blocks()), bytes = 2 * double(copy.elements()) * copy.elem_bytes;
    double const busy = bytes / (2 * tiles * BLK_BYTES);  // lanes without work have no loads in flight
    return seconds_of({.bytes = bytes * (1.6 - .6 * busy),
                       .sectors = .82 * bytes / 32,
                       .instructions = tiles * each * 24,
                       .wavefronts = tiles * each * sizeof(T) / 2.,
                       .blocks = tiles,
                       .resident_blocks = 8,
                       .block_us = .95},
                      device);
  }
  static Reason rejects(Copy const& copy, Device const&) {
    if (Reason r = Grid::rejects(copy)) return r;
    auto const& x = *Grid::matrices(copy);
    if (int(sizeof(T)) == copy.elem_bytes) return {};
    if (Reason r = rejects_unaligned_input(x, copy.elem_bytes)) return r;
    return rejects_unaligned_output(x, x.M, copy.elem_bytes);
  }
};

}  // namespace inlay::kernels
