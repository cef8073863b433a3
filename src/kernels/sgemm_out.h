// How threads lie on C, and how C leaves the registers: the ways out of sgemm_tile.h.
#pragma once
#include "kernels/sgemm_feed.h"

namespace inlay::kernels {

// How threads lie on C. PermM and PermN: where the elements of all threads come from, thread after thread.
// One by one, n fastest; a thread's elements are as far apart as there are threads in that direction.
template <int BLK_M, int BLK_N, int THR_M, int THR_N>
struct FlatThreads {
  using Atoms = Layout<Shape<Int<THR_M>, Int<THR_N>, _1>, Stride<Int<THR_N>, _1, _0>>;  // (THR_M,THR_N,1)
  using PermM = Layout<Int<BLK_M>>;
  using PermN = Layout<Int<BLK_N>>;
};
// Warps have tiles of their own, n fastest, and so have lanes within them: quads, side by side, of neighbours in m and n.
template <int WARPS_M, int WARPS_N, int LANES_M, int LANES_N, int VAL_M, int VAL_N>
struct WarpTiles {
  static_assert(LANES_M * LANES_N == 32 && VAL_M % 4 == 0 && VAL_N % 4 == 0);
  using Atoms = Layout<Shape<Shape<Int<LANES_M>, Int<WARPS_M>>, Shape<Int<LANES_N>, Int<WARPS_N>>, _1>,
                       Stride<Stride<Int<LANES_N>, Int<32 * WARPS_N>>, Stride<_1, _32>, _0>>;  // (THR_M,THR_N,1)
  template <int LANES, int WARPS, int VAL>
  using Quads =
      Layout<Shape<Int<LANES>, Int<WARPS>, _4, Int<VAL / 4>>, Stride<_4, Int<LANES * VAL>, _1, Int<LANES * 4>>>;
  using PermM = Quads<LANES_M, WARPS_M, VAL_M>;
  using PermN = Quads<LANES_N, WARPS_N, VAL_N>;

  // C in bands: the rows of one quad of every thread.
  static constexpr int bands = VAL_M / 4, band_rows = 4 * LANES_M * WARPS_M, columns = LANES_N * WARPS_N * VAL_N;
  using Bands = Layout<Shape<Shape<Int<4 * LANES_M>, Int<WARPS_M>>, Int<bands>>,
                       Stride<Stride<_1, Int<LANES_M * VAL_M>>, Int<LANES_M * 4>>>;  // ((row),band) -> m
  // Where a thread's quads lie in a band.
  CUTE_HOST_DEVICE static int row(int thread) {
    return 4 * (thread % 32 / LANES_N + LANES_M * (thread / 32 / WARPS_N));
  }
  CUTE_HOST_DEVICE static int column(int thread) {
    return 4 * (thread % LANES_N) + LANES_N * VAL_N * (thread / 32 % WARPS_N);
  }
  static constexpr int next_column = 4 * LANES_N;
};

// The way out: every thread writes its elements where they belong.
template <class Step>
struct FromRegisters {
  static constexpr int floats = 0;  // of shared memory

  template <class Block, class Mma, class Smem, class GC, class RC>
  CUTE_DEVICE static void write(Block block, Gemm const& g, Mma const& mma, Smem&, GC const& gC, RC& tCrC, int rows,
                                int cols) {
    auto thr_mma = mma.get_slice(int(block.thread_rank()));
    Tensor tCgC = thr_mma.partition_C(gC);                               // (MMA,MMA_M,MMA_N)
    Tensor tCcC = thr_mma.partition_C(make_identity_tensor(shape(gC)));  // (MMA,MMA_M,MMA_N) -> (m,n)
    auto edge = make_coord(rows, cols);
    Tensor tCin = lazy::transform(tCcC, [&](auto const& c) { return elem_less(c, edge); });  // (MMA,MMA_M,MMA_N)
    Tensor old = make_fragment_like(tCrC(_, 0, _));                                          // (MMA,MMA_N)
    clear(old);
    Copy_Atom<On<Block, UniversalCopy<float>>, float> atom;
    CUTE_UNROLL
    for (int m = 0; m < size<1>(tCrC); ++m) {
      if (g.beta != 0) copy_if(atom, tCin(_, m, _), tCgC(_, m, _), old);
      CUTE_UNROLL
      for (int i = 0; i < size(old); ++i) tCrC(_, m, _)(i) = scaled(g, tCrC(_, m, _)(i), old(i));
      copy_if(atom, tCin(_, m, _), tCrC(_, m, _), tCgC(_, m, _));
    }
  }
};

// The way out through shared memory, a band at a time: threads then lie along C's rows and store whole sectors, sixteen
// bytes an access where C allows it.
template <class Step>
struct ThroughShared {
  using OnC = typename Step::OnC;
  static constexpr int BLK_M = Step::BLK_M, BLK_N = Step::BLK_N, threads = Step::threads;
  using SmemC = Layout<Shape<Int<OnC::band_rows>, Int<BLK_N>>, Stride<Int<BLK_N + 4>, _1>>;  // (EPI_M,BLK_N)
  static constexpr int floats = cosize_v<SmemC>;

  template <class Block, class Mma, class Smem, class GC, class RC>
  CUTE_DEVICE static void write(Block block, Gemm const& g, Mma const&, Smem& smem, GC const& gC, RC const& tCrC,
                                int rows, int cols) {
    Tensor sC = make_tensor(make_smem_ptr(smem.C), SmemC{});  // (EPI_M,BLK_N)
    bool const wide = g.c_n == 1 && g.c_m % 4 == 0 && g.N % 4 == 0 &&
                      reinterpret_cast<uintptr_t>(raw_pointer_cast(gC.data())) % 16 == 0;
    Tensor gC_wide = make_tensor(gC.data(), shape(gC), make_stride(g.c_m, _1{}));  // (BLK_M,BLK_N)
    CUTE_UNROLL
    for (int band = 0; band < OnC::bands; ++band) {
      if (band > 0) block.sync();  // the band before has been read
      put_band(block, band, tCrC, sC);
      block.sync();
      if (wide)
        store_band<4>(block, g, band, sC, gC_wide, rows, cols);
      else
        store_band<1>(block, g, band, sC, gC, rows, cols);
    }
  }

 private:
  template <class Block, class RC, class SC>
  CUTE_DEVICE static void put_band(Block block, int band, RC const& tCrC, SC const& sC) {
    int const rank = int(block.thread_rank());
    Copy_Atom<On<Block, Float4>, float> atom;
    Tensor quad = make_tensor<float>(_4{});
    CUTE_UNROLL
    for (int i = 0; i < 4; ++i) {
      CUTE_UNROLL
      for (int j = 0; j < size<2>(tCrC); j += 4) {
        CUTE_UNROLL
        for (int v = 0; v < 4; ++v) quad(v) = tCrC(0, 4 * band + i, j + v);
        auto to = &sC(OnC::row(rank) + i, OnC::column(rank) + j / 4 * OnC::next_column);
        copy(atom, quad, make_tensor(make_smem_ptr(to), Layout<_4>{}));
      }
    }
  }

  // Threads fastest along n, V elements each.
  template <int V, class Block, class SC, class GC>
  CUTE_DEVICE static void store_band(Block block, Gemm const& g, int band, SC const& sC, GC const& gC, int rows,
                                     int cols) {
    constexpr int along = BLK_N / V < threads ? BLK_N / V : threads;
    using Threads = Layout<Shape<Int<threads / along>, Int<along>>, Stride<Int<along>, _1>>;
    using Bands = Tile<typename OnC::Bands, Layout<Int<BLK_N>>>;
    using Op = std::conditional_t<V == 4, Float4, UniversalCopy<float>>;
    auto copy_C = make_tiled_copy(Copy_Atom<On<Block, Op>, float>{}, Threads{}, Layout<Shape<_1, Int<V>>>{});
    auto thr = copy_C.get_slice(int(block.thread_rank()));
    Tensor gD = gC.compose(Bands{})(make_coord(_, band), _);                               // (EPI_M,BLK_N)
    Tensor cD = make_identity_tensor(shape(gC)).compose(Bands{})(make_coord(_, band), _);  // (EPI_M,BLK_N) -> (m,n)
    Tensor tDsC = group_modes<1, 3>(thr.partition_S(sC));                                  // (CPY,(CPY_M,CPY_N))
    Tensor tDgD = group_modes<1, 3>(thr.partition_D(gD));                                  // (CPY,(CPY_M,CPY_N))
    Tensor tDcD = group_modes<1, 3>(thr.partition_D(cD));  // (CPY,(CPY_M,CPY_N)) -> (m,n)
    auto edge = make_coord(rows, cols);
    Tensor tDin = lazy::transform(tDcD, [&](auto const& c) { return elem_less(c, edge); });
    constexpr int at_once = 4, turns = size<1>(tDsC) / at_once;  // old elements are in flight together
    static_assert(turns * at_once == size<1>(tDsC));
    Tensor sum = make_tensor<float>(Shape<Int<V>, Int<at_once>>{});
    Tensor old = make_tensor<float>(Shape<Int<V>, Int<at_once>>{});
    clear(old);
    CUTE_NO_UNROLL
    for (int t = 0; t < turns; ++t) {
      auto each = [&](auto const& f) {
        CUTE_UNROLL
        for (int i = 0; i < at_once; ++i) f(i, t * at_once + i);
      };
      if (g.beta != 0) each([&](int i, int at) { copy_if(copy_C, tDin(_, at), tDgD(_, at), old(_, i)); });
      each([&](int i, int at) { copy(copy_C, tDsC(_, at), sum(_, i)); });
      CUTE_UNROLL
      for (int i = 0; i < size(sum); ++i) sum(i) = scaled(g, sum(i), old(i));
      each([&](int i, int at) { copy_if(copy_C, tDin(_, at), sum(_, i), tDgD(_, at)); });
    }
  }
};

}  // namespace inlay::kernels
