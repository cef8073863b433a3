// Family: steps 02 to 04. Tiles of A and B pass through shared memory; 16 x 16 threads hold 8 x 8 elements of D each,
// and write them from their registers.
#pragma once
#include <inlay/kernels/common/epilogue.h>
#include <inlay/kernels/common/producer.h>

namespace inlay::kernels {

// Defaults; a step adds how operands are fetched, and the stages.
struct FlatStep {
  static constexpr int BLK_M = 128, BLK_N = 128, BLK_K = 8, threads = 256;
};

template <class Step>
struct FlatTile : GemmGrid<Step::BLK_M, Step::BLK_N> {
  using Grid = GemmGrid<Step::BLK_M, Step::BLK_N>;
  using SmemA = typename Step::SmemA;  // (BLK_M,BLK_K,PIPE)
  using SmemB = typename Step::SmemB;  // (BLK_N,BLK_K,PIPE)
  static constexpr int BLK_M = Step::BLK_M, BLK_N = Step::BLK_N, BLK_K = Step::BLK_K, PIPE = size<2>(SmemA{});
  static constexpr LaunchInfo launch_info{.threads = Step::threads, .min_blocks = 2};
  // The elements of a thread are 16 rows and 16 columns apart; threads run fastest along n.
  using Threads = Layout<Shape<_16, _16, _1>, Stride<_16, _1, _0>>;  // (THR_M,THR_N,1)
  struct Smem {
    alignas(128) float A[cosize_v<SmemA>];
    alignas(128) float B[cosize_v<SmemB>];
    static void members(auto name) { name("A", &Smem::A), name("B", &Smem::B); }
  };

  static FlatTile make(Gemm const& g, auto const&) { return {Grid::make(g)}; }

  template <class Block>
  CUTE_DEVICE void operator()(Block block, Smem& smem) const {
    block.griddep_launch_dependents();
    auto const& g = this->g;
    auto const here = this->at(block.block_index());
    Tensor gD = make_tensor(make_gmem_ptr(here.D), Shape<Int<BLK_M>, Int<BLK_N>>{},
                            make_stride(g.D.row_stride, g.D.col_stride));
    Tensor sA = make_tensor(make_smem_ptr(smem.A), SmemA{});  // (BLK_M,BLK_K,PIPE)
    Tensor sB = make_tensor(make_smem_ptr(smem.B), SmemB{});  // (BLK_N,BLK_K,PIPE)
    auto from_A = make_producer<typename Step::FetchA>(
        block, Part{here.A, g.A.row_stride, g.A.col_stride, here.rows, int(here.K)}, sA);
    auto from_B = make_producer<typename Step::FetchB>(
        block, Part{here.B, g.B.row_stride, g.B.col_stride, here.cols, int(here.K)}, sB);

    auto mma = make_tiled_mma(MMA_Atom<On<Block, UniversalFMA<float>>>{}, Threads{},
                              Tile<Layout<Int<BLK_M>>, Layout<Int<BLK_N>>, _1>{});
    Copy_Atom<On<Block, UniversalCopy<float>>, float> read;
    auto read_A = make_tiled_copy_A(read, mma);
    auto read_B = make_tiled_copy_B(read, mma);
    int const rank = int(block.thread_rank());
    auto thr_mma = mma.get_slice(rank);
    Tensor tCrA = thr_mma.partition_fragment_A(make_tensor(sA.data(), Shape<Int<BLK_M>, _2>{}));  // (MMA,MMA_M,2)
    Tensor tCrB = thr_mma.partition_fragment_B(make_tensor(sB.data(), Shape<Int<BLK_N>, _2>{}));  // (MMA,MMA_N,2)
    Tensor tCrD = thr_mma.partition_fragment_C(gD);                                               // (MMA,MMA_M,MMA_N)
    Tensor tXsA = read_A.get_slice(rank).partition_S(sA);  // (CPY,CPY_M,CPY_K,PIPE)
    Tensor tXrA = read_A.get_slice(rank).retile_D(tCrA);   // (CPY,CPY_M,2)
    Tensor tXsB = read_B.get_slice(rank).partition_S(sB);  // (CPY,CPY_N,CPY_K,PIPE)
    Tensor tXrB = read_B.get_slice(rank).retile_D(tCrB);   // (CPY,CPY_N,2)
    auto read_slice = [&](int stage, int k, int to) {
      copy(read_A, tXsA(_, _, k, stage), tXrA(_, _, to));
      copy(read_B, tXsB(_, _, k, stage), tXrB(_, _, to));
    };
    auto multiply =
        [&](int from) {  // even rows run backwards: where the direction changes, one element of B is used twice
          CUTE_UNROLL
          for (int m = 0; m < size<1>(tCrD); ++m) {
            CUTE_UNROLL
            for (int j = 0; j < size<2>(tCrD); ++j) {
              int const n = m % 2 ? j : size<2>(tCrD) - 1 - j;
              gemm(mma, tCrD(_, m, n), tCrA(_, m, from), tCrB(_, n, from), tCrD(_, m, n));
            }
          }
        };
    auto fetch = [&](int stage) {
      from_A.issue(stage), from_B.issue(stage);
      from_A.land(stage), from_B.land(stage);
    };
    int const tiles = int(ceil_div(here.K, int64_t(BLK_K)));
    clear(tCrD);
    if constexpr (PIPE == 1) {
      CUTE_NO_UNROLL
      for (int t = 0; t < tiles; ++t) {
        fetch(0);
        block.sync();
        CUTE_UNROLL
        for (int k = 0; k < BLK_K; ++k) {
          read_slice(0, k, k % 2);
          multiply(k % 2);
        }
        block.sync();
      }
    } else {
      // A slice is multiplied while the next one is read, across tiles too: so the loop begins with a slice of zeros
      // and ends one slice early.
      CUTE_UNROLL
      for (int stage = 0; stage < PIPE - 1; ++stage) {
        fetch(stage);
        block.cp_async_fence();
      }
      clear(tCrA(_, _, 1));
      clear(tCrB(_, _, 1));
      int full = 0, free = PIPE - 1;
      CUTE_NO_UNROLL
      for (int t = 0; t < tiles; ++t) {
        block.cp_async_wait(Int<PIPE - 2>{});  // this tile has landed
        block.sync();                          // for all threads; and all have read the last one
        fetch(free);
        block.cp_async_fence();
        CUTE_UNROLL
        for (int k = 0; k < BLK_K; ++k) {
          read_slice(full, k, k % 2);
          multiply(1 - k % 2);
        }
        full = full + 1 == PIPE ? 0 : full + 1;
        free = free + 1 == PIPE ? 0 : free + 1;
      }
      multiply(1);
      block.cp_async_wait(Int<0>{});
    }
    store(thr_mma, gD, tCrD, make_coord(here.rows, here.cols), block);
  }

  // Each thread writes its sums from registers directly to D.
  template <class Thread, class GD, class RD, class Edge, class Block>
  CUTE_DEVICE void store(Thread const& thr_mma, GD const& gD, RD& tCrD, Edge const& edge, Block) const {
    Epilogue const& by = this->g.epilogue;
    Tensor tCgD = thr_mma.partition_C(gD);                               // (MMA,MMA_M,MMA_N)
    Tensor tCcD = thr_mma.partition_C(make_identity_tensor(shape(gD)));  // (MMA,MMA_M,MMA_N) -> (m,n)
    Tensor tCin = lazy::transform(tCcD, [&](auto const& c) { return elem_less(c, edge); });  // (MMA,MMA_M,MMA_N)
    Tensor old = make_fragment_like(tCrD(_, 0, _));                                          // (MMA,MMA_N)
    clear(old);
    Copy_Atom<On<Block, UniversalCopy<float>>, float> atom;
    CUTE_UNROLL
    for (int m = 0; m < size<1>(tCrD); ++m) {
      if (by.beta != 0) copy_if(atom, tCin(_, m, _), tCgD(_, m, _), old);
      CUTE_UNROLL
      for (int i = 0; i < size(old); ++i) tCrD(_, m, _)(i) = scaled(by, tCrD(_, m, _)(i), old(i));
      copy_if(atom, tCin(_, m, _), tCrD(_, m, _), tCgD(_, m, _));
    }
  }

  static Reason rejects(Gemm const& g, Device const& device) {
    if (g.K() > INT32_MAX / 2) return {"K = {} is more than a block counts", {g.K()}};
    return Grid::rejects(g, device);
  }
};

}  // namespace inlay::kernels
